/** A fault that was on at a moment of the chart. */
export interface BandFault {
  readonly id: string;
  /** `orders-broker down` */
  readonly label: string;
}

/** One second of the chart. */
export interface HistorySample {
  /** ms since 1970. */
  readonly timeMs: number;
  /** Events in the outbox; undefined when it is unknown. */
  readonly pending: number | undefined;
  readonly faults: readonly BandFault[];
}

/** A backlog that is gone. */
export interface Drained {
  readonly peak: number;
  /** ms since the peak; since the end of the fault under which it grew, when that was later. */
  readonly tookMs: number;
}

/** How the outbox stands. */
export type Drain =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'empty'; readonly last: Drained | undefined }
  /** Falls; at this pace it is empty in so many ms. */
  | { readonly kind: 'draining'; readonly pending: number; readonly leftMs: number }
  | { readonly kind: 'rising'; readonly pending: number; readonly perSecond: number }
  /** Neither. */
  | { readonly kind: 'waiting'; readonly pending: number };

/** Kept for the widest chart, in samples of a second. */
const KEPT = 900;
/** The pace is measured over so many samples. */
const PACE_SAMPLES = 6;
/** A pace below this, events per second, is none. */
const NO_PACE = 0.5;
/** Events of a second in passing are no backlog worth showing. */
export const MIN_SHOWN_PENDING = 5;

/** Seconds missed while this process was not given the processor are filled with what was before, up to so many ms. */
const FILLED_MS = 5_000;

/** One sample a second; a second sample of a second is dropped. */
export function addSample(history: readonly HistorySample[], sample: HistorySample): readonly HistorySample[] {
  const second = { ...sample, timeMs: Math.floor(sample.timeMs / 1_000) * 1_000 };
  const last = history.at(-1);
  if (last !== undefined && second.timeMs <= last.timeMs) return history;
  const missed: HistorySample[] = [];
  if (last !== undefined && second.timeMs - last.timeMs <= FILLED_MS) {
    for (let timeMs = last.timeMs + 1_000; timeMs < second.timeMs; timeMs += 1_000) missed.push({ ...last, timeMs });
  }
  return [...history.slice(-KEPT), ...missed, second];
}

/** How the outbox stands, from what it was. Pure. */
export function drainOf(history: readonly HistorySample[]): Drain {
  const pending = history.at(-1)?.pending;
  if (pending === undefined) return { kind: 'unknown' };
  if (pending === 0) return { kind: 'empty', last: lastDrained(history) };
  const perSecond = pending < MIN_SHOWN_PENDING ? 0 : paceOf(history.slice(-PACE_SAMPLES));
  if (perSecond > NO_PACE) return { kind: 'rising', pending, perSecond };
  if (perSecond < -NO_PACE) return { kind: 'draining', pending, leftMs: (pending / -perSecond) * 1000 };
  return { kind: 'waiting', pending };
}

/** Events per second, by least squares; what turned is measured from its turn on. */
function paceOf(recent: readonly HistorySample[]): number {
  const known = recent.flatMap(({ timeMs, pending }) =>
    pending === undefined ? [] : [{ x: timeMs / 1000, y: pending }],
  );
  const top = known.findLastIndex(({ y }) => y === Math.max(...known.map((point) => point.y)));
  const points = top >= 1 && top < known.length - 1 ? known.slice(top) : known;
  if (points.length < 2) return 0;
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanX, meanY] = [mean(points.map(({ x }) => x)), mean(points.map(({ y }) => y))];
  const above = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0);
  const below = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  return above / below;
}

/** The newest backlog that has ended. */
function lastDrained(history: readonly HistorySample[]): Drained | undefined {
  let peak: { fromMs: number; pending: number } | undefined;
  let last: Drained | undefined;
  for (const { timeMs, pending, faults } of history) {
    if (pending === undefined) continue;
    if (pending > 0 && pending >= (peak?.pending ?? 0)) peak = { fromMs: timeMs, pending };
    if (pending > 0 && peak !== undefined && faults.length > 0) peak = { ...peak, fromMs: timeMs };
    if (pending > 0 || peak === undefined) continue;
    if (peak.pending >= MIN_SHOWN_PENDING) last = { peak: peak.pending, tookMs: timeMs - peak.fromMs };
    peak = undefined;
  }
  return last;
}

/** One column of the chart. */
export interface ChartColumn {
  /** The highest of its time; undefined when nothing is known of it. */
  readonly pending: number | undefined;
  readonly faults: readonly BandFault[];
}

export interface Chart {
  /** Oldest first, as many as there is room for. */
  readonly columns: readonly ChartColumn[];
  readonly columnMs: number;
  /** Upper end of the scale: 1, 2 or 5 times a power of ten, at least 10. */
  readonly top: number;
}

/** A chart shows at least this much time, ms. */
const SHORTEST_MS = 50_000;

/**
 * The newest samples in columns. Columns begin at whole multiples of their length, so that the chart moves by whole
 * columns and its past does not flicker. Pure.
 */
export function chartOf(history: readonly HistorySample[], width: number, nowMs: number): Chart {
  const columnMs = Math.max(1_000, Math.ceil(SHORTEST_MS / width / 1_000) * 1_000);
  const newest = Math.floor(nowMs / columnMs);
  const bucketOf = ({ timeMs }: HistorySample) => Math.floor(timeMs / columnMs) - newest + width - 1;
  const columns: { pending: number | undefined; faults: BandFault[] }[] = Array.from({ length: width }, () => ({
    pending: undefined,
    faults: [],
  }));
  for (const sample of history) {
    const column = columns[bucketOf(sample)];
    if (column === undefined) continue;
    if (sample.pending !== undefined) column.pending = Math.max(column.pending ?? 0, sample.pending);
    for (const fault of sample.faults) {
      if (column.faults.every(({ id }) => id !== fault.id)) column.faults.push(fault);
    }
  }
  return { columns, columnMs, top: niceTop(Math.max(0, ...columns.map(({ pending = 0 }) => pending))) };
}

function niceTop(highest: number): number {
  for (let power = 10; ; power *= 10) {
    for (const step of [1, 2, 5]) if (step * power >= highest) return step * power;
  }
}
