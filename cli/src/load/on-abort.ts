/** Calls `stop` once `signal` is aborted, at once when it is already, until the result is disposed. */
export function onAbort(signal: AbortSignal, stop: () => void): Disposable {
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  return { [Symbol.dispose]: () => signal.removeEventListener('abort', stop) };
}
