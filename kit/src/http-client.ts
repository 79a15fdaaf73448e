import { type Dispatcher, Pool } from 'undici';
import { DEADLINE_HEADER } from './deadline.ts';
import { TransientError } from './failures.ts';
import type { Attempt } from './resilience.ts';
import { type ClientRequestSpans, createClientRequestSpans, type OutgoingRequest } from './spans/client-requests.ts';

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

/** An attempt's time is over. */
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
  const replicas = origins.map((origin) => ({
    pool: new Pool(origin, { connections: null, keepAliveTimeout: 30_000, pipelining: 1 }),
    spans: createClientRequestSpans(origin),
  }));
  let turn = 0;

  async function request(
    { pool, spans }: Replica,
    { method, path, body, headers: given }: HttpRequest,
    attempt: Attempt,
  ) {
    const time = timeOf(attempt);
    const headers: Record<string, string> = {
      accept: 'application/json',
      [DEADLINE_HEADER]: String(attempt.timeoutMs),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...given,
    };
    const traced = spans.start(method, path, headers);
    const options: Dispatcher.RequestOptions = {
      method,
      path,
      signal: time.signal,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    };
    try {
      const answer = await send(pool, options, traced);
      return { status: answer.status, body: answer.text === '' ? undefined : (JSON.parse(answer.text) as unknown) };
    } catch (error) {
      throw new TransientError(`${edge}: the call failed`, { cause: error });
    } finally {
      time.over();
    }
  }

  return {
    async send(call, attempt) {
      const replica = replicas[turn++ % replicas.length] as Replica;
      const answer = await request(replica, call, attempt);
      if (answer.status >= 500 || PASSING_STATUSES.has(answer.status)) {
        throw new TransientError(`${edge}: answered ${answer.status}`);
      }
      return answer;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(replicas.map(({ pool }) => pool.destroy()));
    },
  };
}

interface Replica {
  readonly pool: Pool;
  readonly spans: ClientRequestSpans;
}

/** Sends it and reads the answer to its end; the span is over by then. */
async function send(pool: Pool, options: Dispatcher.RequestOptions, traced: OutgoingRequest | undefined) {
  try {
    const { statusCode, body } = await pool.request(options);
    const text = await body.text();
    traced?.end(statusCode);
    return { status: statusCode, text };
  } catch (error) {
    traced?.fail(error);
    throw error;
  }
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
