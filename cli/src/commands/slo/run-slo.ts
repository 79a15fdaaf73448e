import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import type { Style } from '../../output/style.ts';
import { formatTable } from '../../output/table.ts';
import { createControlClient } from '../../platform/control-client.ts';
import type { Project } from '../../platform/project.ts';
import { formatDuration } from '../../shared/duration.ts';
import { type PrometheusClient, requirePrometheus } from '../../shop/prometheus.ts';
import { findSlo, readSlos } from '../../slo/catalog.ts';
import { type MeasuredSlo, measureSlos } from '../../slo/measure.ts';
import { profiles } from '../../slo/profiles.ts';
import { sloSeries } from '../../slo/series.ts';

/** `shopctl slo ls`. */
export async function runSloList(options: CommonOptions, deps: CommandDeps): Promise<void> {
  const project = deps.projectFrom(options);
  const slos = await readSlos(project.root);
  const measured = await measureSlos(slos, await prometheusOf(project));
  deps.output.result({ slos: measured }, () =>
    formatTable(
      ['SLO', 'OBJECTIVE', 'WINDOW', 'ATTAINED', 'BUDGET LEFT', 'BURN NOW', 'AT THIS PACE'],
      measured.map((slo) => row(slo, deps.output.style)),
    ),
  );
}

/** `shopctl slo show NAME`. */
export async function runSloShow(name: string, options: CommonOptions, deps: CommandDeps): Promise<void> {
  const project = deps.projectFrom(options);
  const slo = findSlo(await readSlos(project.root), name);
  const [measured] = (await measureSlos([slo], await prometheusOf(project))) as [MeasuredSlo];
  const { alerts } = sloSeries(slo, profiles.laptop);
  deps.output.result({ ...measured, description: slo.description, counts: slo.counts, alerts }, () => {
    const { style } = deps.output;
    const [, objective = '', window = '', attained = '', left = '', burn = '', pace = ''] = row(measured, style);
    const facts = [
      ['objective', `${objective} of ${slo.counts} in ${window}`],
      ['attained', `${attained}${measured.events === null ? '' : ` of ${Math.round(measured.events)} ${slo.counts}`}`],
      ['budget left', left],
      ['burn now', burn],
      ['at this pace', pace],
    ];
    const rules = alerts.map(({ alert, burn: speed, threshold, long, short }) => [
      alert,
      speed,
      `burn rate above ${threshold} over ${long} and ${short}`,
    ]);
    const blocks = [`${style.bold(slo.name)}: ${slo.title}\n${slo.description}`, formatTable([], facts)];
    if (rules.length > 0) blocks.push(formatTable(['ALERT', 'BURN', 'FIRES AT'], rules));
    return blocks.join('\n\n');
  });
}

/** Throws CliError: 4 where no platform runs, 3 where it runs without alerts. */
async function prometheusOf(project: Project): Promise<PrometheusClient> {
  return requirePrometheus(await createControlClient(project).state());
}

function row(slo: MeasuredSlo, style: Style): string[] {
  const { name, objective, window, attained, budgetLeft, burnNow } = slo;
  const isMissed = attained !== null && attained < objective;
  return [
    name,
    percent(objective),
    window,
    paintIf(isMissed, percent(attained), style),
    paintIf(budgetLeft !== null && budgetLeft <= 0, percent(budgetLeft), style),
    burnNow === null ? NO_DATA : burnNow.toFixed(burnNow < 10 ? 2 : 1),
    describePace(slo),
  ];
}

const NO_DATA = 'no data';

function describePace({ budgetLeft, burnNow, spentInMs }: MeasuredSlo): string {
  if (budgetLeft === null || burnNow === null) return NO_DATA;
  if (budgetLeft <= 0) return 'spent';
  return spentInMs === null ? 'not spent' : `spent in ${formatDuration(spentInMs)}`;
}

function paintIf(isBad: boolean, text: string, style: Style): string {
  return isBad ? style.red(text) : text;
}

/** Up to 3 decimals, rounded down, so that 99.9999 % is not shown as 100 %. */
function percent(share: number | null): string {
  if (share === null) return NO_DATA;
  return `${Math.floor(Number((share * 100_000).toPrecision(12))) / 1_000} %`;
}
