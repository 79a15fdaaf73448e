const MS_PER_UNIT = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/** `200ms`, `3s`, `1.5m`, `2h` in ms; undefined when it is none. A number needs its unit, so that none is guessed. */
export function durationMs(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text);
  return match ? Number(match[1]) * MS_PER_UNIT[match[2] as keyof typeof MS_PER_UNIT] : undefined;
}

/** A duration in the same words, as short as it goes: `200ms`, `3s`, `1.5s`. */
export function writeDuration(ms: number): string {
  return ms >= 1000 && ms % 100 === 0 ? `${ms / 1000}s` : `${ms}ms`;
}
