/** Ready when a GET of `url` responds with success. */
export function httpProbe(url: string): (signal: AbortSignal) => Promise<void> {
  return async (signal) => {
    const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(2_000)]) });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`${url}: HTTP ${response.status}`);
  };
}
