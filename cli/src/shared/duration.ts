const MS_PER_UNIT: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const MS_PER_UNIT_OF_AGE: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `200ms`, `3s`, `1.5m`, `2h` in ms; undefined when it is none. A number needs its unit, so that none is guessed. */
export function durationMs(text: string): number | undefined {
  return parse(text, MS_PER_UNIT);
}

/** How long ago something was: `90s`, `10m`, `2h`, `1d` in ms; undefined when it is none. */
export function ageMs(text: string): number | undefined {
  return parse(text, MS_PER_UNIT_OF_AGE);
}

function parse(text: string, msPerUnit: Readonly<Record<string, number>>): number | undefined {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)([a-z]+)$/.exec(text) ?? [];
  return Object.hasOwn(msPerUnit, unit) ? Number(number) * (msPerUnit[unit] as number) : undefined;
}

/** The same with a direction: `-1h`, `+30s`, `30s`. */
export function signedDurationMs(text: string): number | undefined {
  const ms = durationMs(text.replace(/^[+-]/, ''));
  return ms !== undefined && text.startsWith('-') ? -ms : ms;
}

/** A duration in the same words, as short as it goes: `200ms`, `3s`, `1.5s`, `-1h`. */
export function writeDuration(ms: number): string {
  if (ms < 0) return `-${writeDuration(-ms)}`;
  if (ms > 0 && ms % 3_600_000 === 0) return `${ms / 3_600_000}h`;
  return ms >= 1000 && ms % 100 === 0 ? `${ms / 1000}s` : `${ms}ms`;
}

/** For people, three digits or so: "840 ms", "1.52 s", "2 min 5 s". */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}
