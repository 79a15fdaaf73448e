/** "2026-11-21 13:44:43.123Z": a moment for people; milliseconds matter when services are compared. */
export function formatTime(at: Date): string {
  return at.toISOString().replace('T', ' ');
}

/** "+0 ms", "+1,234 ms": a moment relative to another one. */
export function formatOffset(at: Date, origin: Date): string {
  const ms = at.getTime() - origin.getTime();
  return `${ms < 0 ? '-' : '+'}${Math.abs(ms).toLocaleString('en-US')} ms`;
}

/** First eight characters of an id: unique enough to be typed. */
export function shortId(id: string): string {
  return id.slice(0, 8);
}
