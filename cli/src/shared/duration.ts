const MS_PER_UNIT = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/** `200ms`, `3s`, `1.5m`, `2h` in ms; undefined when it is none. A number needs its unit, so that none is guessed. */
export function durationMs(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text);
  return match ? Number(match[1]) * MS_PER_UNIT[match[2] as keyof typeof MS_PER_UNIT] : undefined;
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
