/** `840 ms`, `1.5 s`, `12 s`. */
export function formatMs(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return `${Number((ms / 1000).toFixed(ms < 10_000 ? 2 : 1))} s`;
}

/** A time since the run began: `0:42`, `12:05`. */
export function formatClock(seconds: number): string {
  const rest = Math.floor(seconds % 60);
  return `${Math.floor(seconds / 60)}:${String(rest).padStart(2, '0')}`;
}
