/** Where the preload, which is a separate bundle, leaves what takes the log lines of the service that runs under it. */
const SINK = Symbol.for('shop.log-sink');

/** Takes one line of pino JSON. */
export type LogSink = (line: string) => void;

type Host = { [SINK]?: LogSink | undefined };

/** Called before the service makes its logger; undefined takes the sink away. */
export function publishLogSink(sink: LogSink | undefined): void {
  (globalThis as Host)[SINK] = sink;
}

export function logSink(): LogSink | undefined {
  return (globalThis as Host)[SINK];
}
