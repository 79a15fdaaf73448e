import type uPlot from 'uplot';
import type { Lane, PageData } from '../page-data.ts';
import { formatClock, formatMs } from './format.ts';

/** Writes what the charts show at the cursor into their legends, and says in words what was going on then. */
export function showValues(data: PageData, second: number | undefined): void {
  const { seconds } = data;
  const at = second ?? -1;
  write('p50', timeText(seconds.p50[at]));
  write('p95', timeText(seconds.p95[at]));
  write('pending', countText(seconds.pending[at]));
  write('waiting', countText(seconds.waiting[at]));
  seconds.responses.forEach((responses, kind) => {
    write(`responses-${kind}`, countText(responses[at]));
  });
  for (const [index, { percent }] of data.usage.entries()) write(`usage-${index}`, percentText(percent[at]));
  const words = second === undefined ? '' : `${formatClock(second)} – ${whatHappened(data, second).join(' · ')}`;
  const readout = document.getElementById('cursor');
  if (readout !== null && readout.textContent !== words) readout.textContent = words;
}

function write(name: string, text: string): void {
  const element = document.querySelector(`[data-value="${name}"]`);
  if (element !== null) element.textContent = text;
}

const timeText = (ms: number | null | undefined) => (ms === null || ms === undefined ? '–' : formatMs(ms));
const percentText = (percent: number | null | undefined) =>
  percent === null || percent === undefined ? '–' : `${Math.round(percent)} %`;
const countText = (count: number | null | undefined) => (count === null || count === undefined ? '–' : String(count));

function whatHappened({ happenings, breakers }: PageData, second: number): string[] {
  const notClosed = breakers.map(({ label, spans }) => ({
    label,
    spans: spans.filter((span) => span.tone !== 'plain'),
  }));
  const breakersThen = namesAt(notClosed, second, ({ label }, name) => `breaker ${label} ${name}`);
  return [...namesAt(happenings, second, (_, name) => name), ...breakersThen];
}

/** Names of the spans that touch the second that begins then. */
function namesAt(lanes: readonly Lane[], second: number, name: (lane: Lane, label: string) => string): string[] {
  const [from, to] = [second * 1000, second * 1000 + 1000];
  return lanes.flatMap((lane) =>
    lane.spans.filter((span) => span.fromMs < to && span.toMs >= from).map((span) => name(lane, span.label)),
  );
}

/** Moves the cursor of all charts to a second of the run, which need not be in sight. */
export function moveCursor(charts: readonly uPlot[], second: number): void {
  for (const u of charts) u.setCursor({ left: u.valToPos(second, 'x'), top: 1 }, true);
}
