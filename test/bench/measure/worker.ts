import { fork } from 'node:child_process';
import { once } from 'node:events';

/** A separate process that serves calls, so that its CPU time is measured alone. */
export interface Worker extends AsyncDisposable {
  readonly pid: number;
  /** Rejects with the worker's error, or when it ends without a response. */
  call<T>(method: string, argument?: unknown): Promise<T>;
}

interface Request {
  readonly id: number;
  readonly method: string;
  readonly argument: unknown;
}

interface Response {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

const END_LIMIT_MS = 5_000;

/** Starts `file` (a module that calls `serveCalls`). Arguments and results go over a pipe: no secret is in argv. */
export function startWorker(file: URL, options: { readonly env?: NodeJS.ProcessEnv } = {}): Worker {
  const child = fork(file, {
    serialization: 'advanced',
    env: { ...process.env, ...options.env },
    // What a worker has to say is not the bench's result.
    stdio: ['ignore', 2, 2, 'ipc'],
  });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let calls = 0;
  child.on('message', ({ id, value, error }: Response) => {
    const call = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) call?.resolve(value);
    else call?.reject(new Error(error));
  });
  const ended = once(child, 'exit').then(([code, signal]) => {
    for (const { reject } of waiting.values()) reject(new Error(`${file.pathname} ended with ${code ?? signal}`));
  });

  return {
    pid: child.pid as number,
    call<T>(method: string, argument?: unknown) {
      const response = Promise.withResolvers<unknown>();
      calls += 1;
      waiting.set(calls, response);
      child.send({ id: calls, method, argument } satisfies Request);
      return response.promise as Promise<T>;
    },
    async [Symbol.asyncDispose]() {
      if (child.connected) child.disconnect();
      const limit = setTimeout(() => child.kill('SIGKILL'), END_LIMIT_MS);
      await ended;
      clearTimeout(limit);
    },
  };
}

/** The worker's side: responds to each call with what its method resolves with, and exits when the caller is gone. */
export function handleCalls(methods: Readonly<Record<string, (argument: never) => unknown>>): void {
  process.on('message', async ({ id, method, argument }: Request) => {
    const response = await responseOf(id, async () => methods[method]?.(argument as never));
    if (process.connected) process.send?.(response);
  });
  process.once('disconnect', () => process.exit(0));
}

async function responseOf(id: number, work: () => Promise<unknown>): Promise<Response> {
  try {
    return { id, value: await work() };
  } catch (error) {
    return { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
