import { countChecks, paintVerdict, renderCheck } from '../output/check.ts';
import type { Style } from '../output/style.ts';
import { formatTable } from '../output/table.ts';
import { formatBytes, formatCount } from '../output/units.ts';
import { pairsText } from '../report/words.ts';
import { formatDuration, writeDuration } from '../shared/duration.ts';
import type { Measured } from './measured.ts';
import type { LoadResult } from './result.ts';
import { countsText, shareText } from './words.ts';

/** Above this a service that runs on one core has no more to give, percent of a core. */
const SATURATED_PERCENT = 90;
/** Above this what others did is part of what was measured, percent of a core. */
const DISTURBED_PERCENT = 20;
/** Processes shown as text, beside those whose memory is known; `--json` has all. */
const SHOWN_PERCENT = 0.5;
const GROUP_WIDTH = 9;

/** The summary of a run as text. */
export function renderLoad(result: LoadResult, style: Style): string {
  return [
    headline(result, style),
    renderPhases(result),
    ...renderErrors(result.orders, style),
    ...renderKnee(result, style),
    renderOutbox(result),
    ...renderSagas(result),
    ...renderFaults(result, style),
    ...renderUsage(result, style),
    ...result.gaps.map((gap) => style.yellow(`could not be read for a while: ${gap}`)),
    ...result.notChecked.map((what) => style.yellow(`not checked: ${what}`)),
    ...result.checks.map((check) => renderCheck(check, style, { groupWidth: GROUP_WIDTH })),
    ...result.notReverted.map((what) => style.red(`left: ${what}; run "shopctl chaos clear --all"`)),
    verdictLine(result, style),
  ].join('\n\n');
}

function headline({ scenario, orders, settings, startedAt }: LoadResult, style: Style): string {
  const how = settings.rate === null ? `${settings.vus} users` : `${settings.rate}/s`;
  return `${style.bold(scenario)} ${how} for ${settings.durationS} s, seed ${settings.seed}, ${startedAt}: ${formatCount(orders.sent)} requests, ${orders.perSecond} responses/s`;
}

/** A ramp that was ended early never came to its last steps. */
function renderPhases({ phases, orders, knee }: LoadResult): string {
  const rows = phases
    .filter(({ sent }) => knee === null || sent > 0)
    .map((phase) => [
      phase.name,
      phase.offeredPerSecond === null ? '-' : String(phase.offeredPerSecond),
      ...numbersOf(phase),
      String(phase.missing),
    ]);
  const all = phases.length > 1 ? [['all', '-', ...numbersOf(orders), '']] : [];
  return formatTable(
    ['PHASE', 'OFFERED/S', 'SENT', 'RESPONSES/S', 'AS EXPECTED', 'P50', 'P95', 'P99', 'MAX', 'NOT SENT'],
    [...rows, ...all],
  );
}

function numbersOf(measured: Measured): string[] {
  const { sent, perSecond, latencyMs } = measured;
  const share = shareText(measured) ?? '-';
  const times = [latencyMs.p50, latencyMs.p95, latencyMs.p99, latencyMs.max];
  return [formatCount(sent), String(perSecond), share, ...times.map((ms) => (ms === null ? '-' : formatDuration(ms)))];
}

function renderErrors({ outcomes, errors }: Measured, style: Style): string[] {
  const reported = `responses: ${countsText(outcomes)}`;
  return Object.keys(errors).length === 0 ? [reported] : [`${reported}\n${style.red(`errors: ${countsText(errors)}`)}`];
}

function renderKnee({ knee }: LoadResult, style: Style): string[] {
  if (knee === null) return [];
  const { sustainedPerSecond, saturatedAtPerSecond, because, p95Ms, highestPerSecond, busiest } = knee;
  const head =
    sustainedPerSecond === null
      ? style.red('knee: below the first step')
      : saturatedAtPerSecond === null
        ? style.yellow(`knee: above ${sustainedPerSecond} orders/s; ask for more with --rate`)
        : style.bold(`knee: ${sustainedPerSecond} orders/s (p95 ${Math.round(p95Ms ?? 0)} ms)`);
  const limit = saturatedAtPerSecond === null ? '' : `\n  at ${saturatedAtPerSecond}/s ${because}`;
  return [
    `${head}${limit}\n  at the most ${highestPerSecond} orders/s were confirmed\n  busiest then: ${busiest.join(', ')}`,
  ];
}

function renderOutbox({ outbox: { peak, drainMs } }: LoadResult): string {
  const most = peak === null ? 'not known' : `${formatCount(peak)} events`;
  return `outbox: peak ${most}, drained ${drainMs === null ? 'not at all' : `in ${formatDuration(drainMs)}`}`;
}

function renderSagas({ sagas }: LoadResult): string[] {
  return sagas === null ? [] : [`sagas: ${countsText(sagas) || 'none'}`];
}

function renderFaults({ faults }: LoadResult, style: Style): string[] {
  if (faults.length === 0) return [];
  const lines = faults.map(({ target, fault, parameters, from, to, evidence }) => {
    const how = pairsText(parameters);
    const lasted =
      from !== null && to !== null ? writeDuration(Math.round((Date.parse(to) - Date.parse(from)) / 100) * 100) : '-';
    return `fault: ${fault} on ${target}${how === '' ? '' : ` (${how})`} for ${lasted}: ${evidence}`;
  });
  const never = faults.some(({ inEffect }) => inEffect) ? [] : [style.yellow('no fault was ever in effect')];
  return [[...lines, ...never].join('\n')];
}

function renderUsage({ usage }: LoadResult, style: Style): string[] {
  if (usage === null) return ['CPU was not measured'];
  const { machine, processes } = usage;
  const rows = processes
    .filter(({ averagePercent, memory }) => averagePercent >= SHOWN_PERCENT || memory !== null)
    .map(({ name, averagePercent, peakPercent, cpuMsPerRequest, memory }) => [
      name,
      paint(averagePercent, style),
      paint(peakPercent, style),
      cpuMsPerRequest.toFixed(2),
      memory === null ? '-' : `${formatBytes(memory.firstBytes)} -> ${formatBytes(memory.lastBytes)}`,
      memory?.slopeBytesPerMinute == null ? '-' : `${(memory.slopeBytesPerMinute / 1024 ** 2).toFixed(2)} MB/min`,
    ]);
  const others = `others on this machine used ${machine.othersPercent} %`;
  const head = [
    `CPU in percent of one core: all ${machine.cores} were ${machine.averagePercent} % busy (peak ${machine.peakPercent} %),`,
    machine.othersPercent >= DISTURBED_PERCENT ? style.yellow(others) : others,
  ].join(' ');
  return [`${head}\n${formatTable(['PROCESS', 'AVERAGE', 'PEAK', 'MS/REQUEST', 'MEMORY', 'SLOPE'], rows)}`];
}

function paint(percent: number, style: Style): string {
  const text = `${percent.toFixed(1)} %`;
  return percent >= SATURATED_PERCENT ? style.red(text) : text;
}

function verdictLine({ verdict, checks, tookMs }: LoadResult, style: Style): string {
  const summary = `${countChecks(checks)}, ${formatDuration(tookMs)}`;
  return `${paintVerdict(verdict, style)}: ${summary}`;
}
