/** "78 MB" (powers of 1024, as `ps` and `docker stats` count). */
export function formatBytes(bytes: number): string {
  const mebibytes = bytes / 1024 ** 2;
  return mebibytes < 1024 ? `${Math.round(mebibytes)} MB` : `${(mebibytes / 1024).toFixed(1)} GB`;
}

/** `12,345`, without a fraction. */
export function formatCount(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}
