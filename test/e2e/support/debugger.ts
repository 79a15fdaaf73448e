/** A debugger over the inspector protocol, as far as a test needs one, and where a line of a source is in a bundle. */
import { readFile } from 'node:fs/promises';
import { SourceMap, type SourceMapPayload } from 'node:module';

export interface Debugger {
  /** Sends a command and resolves with its result. */
  send<Result = unknown>(method: string, params?: object): Promise<Result>;
  /** Resolves with the parameters of the next event of this name. Rejects after `withinMs`. */
  next<Params>(event: string, withinMs: number): Promise<Params>;
  close(): void;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** Attaches to the inspector at `host:port`, whose process goes on waiting until a client lets it run. */
export async function attach(address: string): Promise<Debugger> {
  const targets = (await (await fetch(`http://${address}/json/list`)).json()) as { webSocketDebuggerUrl: string }[];
  const socket = new WebSocket((targets[0] as { webSocketDebuggerUrl: string }).webSocketDebuggerUrl);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true });
    socket.addEventListener('error', () => reject(new Error(`no debugger can attach to ${address}`)), { once: true });
  });
  const pending = new Map<number, (message: Message) => void>();
  const listeners = new Set<(message: Message) => void>();
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.id !== undefined) pending.get(message.id)?.(message);
    else for (const listener of listeners) listener(message);
  });
  let sent = 0;
  return {
    send: <Result>(method: string, params: object = {}) =>
      new Promise<Result>((resolve, reject) => {
        const id = ++sent;
        pending.set(id, ({ result, error }) => {
          pending.delete(id);
          if (error) reject(new Error(`${method}: ${error.message}`));
          else resolve(result as Result);
        });
        socket.send(JSON.stringify({ id, method, params }));
      }),
    next: <Params>(event: string, withinMs: number) =>
      new Promise<Params>((resolve, reject) => {
        const done = () => {
          clearTimeout(timer);
          listeners.delete(listener);
        };
        const listener = ({ method, params }: Message) => {
          if (method !== event) return;
          done();
          resolve(params as Params);
        };
        const timer = setTimeout(() => {
          done();
          reject(new Error(`no ${event} in ${withinMs} ms`));
        }, withinMs);
        listeners.add(listener);
      }),
    close: () => socket.close(),
  };
}

/** The first position in a bundle that its map assigns to a line of a source; both count from 0, as the protocol does. */
export async function positionOf(
  bundle: string,
  source: string,
  sourceLine: number,
): Promise<{ lineNumber: number; columnNumber: number }> {
  const code = (await readFile(bundle, 'utf8')).split('\n');
  const payload = JSON.parse(await readFile(`${bundle}.map`, 'utf8')) as SourceMapPayload;
  const map = new SourceMap(payload);
  const mapped = payload.mappings.split(';').flatMap((segments, line) => (segments === '' ? [] : [line]));
  for (const lineNumber of mapped) {
    for (let columnNumber = 0; columnNumber < (code[lineNumber] ?? '').length; columnNumber++) {
      const { originalSource, originalLine } = map.findEntry(lineNumber, columnNumber) as {
        originalSource?: string;
        originalLine?: number;
      };
      if (originalLine === sourceLine && originalSource?.endsWith(source)) return { lineNumber, columnNumber };
    }
  }
  throw new Error(`${bundle} has nothing of line ${sourceLine + 1} of ${source}`);
}
