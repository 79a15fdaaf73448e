/** Units of Prometheus' durations, without those that no window of ours needs. */
const MS_PER_UNIT: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

export const WINDOW_PATTERN = '^[1-9]\\d*[smhdw]$';

/** `5m`, `1h`, `30d` in ms, as Prometheus and OpenSLO write durations; undefined when it is none. */
export function windowMs(text: string): number | undefined {
  if (!new RegExp(WINDOW_PATTERN).test(text)) return undefined;
  return Number(text.slice(0, -1)) * (MS_PER_UNIT[text.slice(-1)] as number);
}

/** The same in seconds, for what is in the files of this project. Throws RangeError for another text. */
export function windowS(text: string): number {
  const ms = windowMs(text);
  if (ms === undefined) throw new RangeError(`"${text}" is not a window`);
  return ms / 1_000;
}

/** A duration as a window is written: `1m15s` has no single unit, so it is `75s`. */
export function writeWindow(ms: number): string {
  const [unit = 's', size = 1_000] = Object.entries(MS_PER_UNIT).findLast(([, size]) => ms % size === 0) ?? [];
  return `${Math.ceil(ms / size)}${unit}`;
}
