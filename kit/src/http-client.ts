import { type Dispatcher, Pool } from 'undici';
import { DEADLINE_HEADER } from './deadline.ts';
import { TransientError } from './failures.ts';
import type { Attempt } from './resilience.ts';

/** A server's answer. `body` is the parsed JSON, undefined when there is none. */
export interface HttpAnswer {
  readonly status: number;
  readonly body: unknown;
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface HttpClient extends AsyncDisposable {
  /**
   * One attempt, at the next replica in turn. Answers below 500 but 408 and 429 are returned; the others, and a
   * connection that failed, are TransientError.
   */
  send(request: HttpRequest, attempt: Attempt): Promise<HttpAnswer>;
}

const PASSING_STATUSES = new Set([408, 429]);

/** An attempt's time is over. The instrumentation of undici takes an AbortError for the caller's wish, and its span for good. */
class AttemptTimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

/**
 * A client of one service with a pool of kept connections per replica. `fetch` costs three times the CPU. The pool has
 * no limit of its own: the edge's bulkhead bounds the calls, and a pool that queued a request would start it, and with
 * it its span, in the trace of whoever freed a connection (decision 0003).
 */
export function createHttpClient(edge: string, origins: readonly string[]): HttpClient {
  if (origins.length === 0) throw new RangeError(`${edge}: no address given`);
  const pools = origins.map(
    (origin) => new Pool(origin, { connections: null, keepAliveTimeout: 30_000, pipelining: 1 }),
  );
  let turn = 0;

  async function request(pool: Pool, { method, path, body, headers }: HttpRequest, attempt: Attempt) {
    const time = timeOf(attempt);
    const options: Dispatcher.RequestOptions = {
      method,
      path,
      signal: time.signal,
      headers: {
        accept: 'application/json',
        [DEADLINE_HEADER]: String(attempt.timeoutMs),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
    };
    try {
      const answer = await pool.request(options);
      const text = await answer.body.text();
      return { status: answer.statusCode, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
    } catch (error) {
      throw new TransientError(`${edge}: the call failed`, { cause: error });
    } finally {
      time.over();
    }
  }

  return {
    async send(call, attempt) {
      const pool = pools[turn++ % pools.length] as Pool;
      const answer = await request(pool, call, attempt);
      if (answer.status >= 500 || PASSING_STATUSES.has(answer.status)) {
        throw new TransientError(`${edge}: answered ${answer.status}`);
      }
      return answer;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(pools.map((pool) => pool.destroy()));
    },
  };
}

/**
 * A signal that ends when the attempt's time is over, for a reason that says so. `over` is called when the answer is there:
 * nothing is left to end.
 */
function timeOf({ signal, timeoutMs }: Attempt): { readonly signal: AbortSignal; over(): void } {
  const controller = new AbortController();
  const end = () => controller.abort(new AttemptTimeoutError(`no answer in time, at the most ${timeoutMs} ms`));
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  return { signal: controller.signal, over: () => signal.removeEventListener('abort', end) };
}
