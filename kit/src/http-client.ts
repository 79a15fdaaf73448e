import { DEADLINE_HEADER } from './deadline.ts';
import { ConnectionLostError, TransientError } from './failures.ts';
import { type HttpReplica, openHttpReplicas } from './http-replica.ts';
import type { EdgeUpstreams } from './live-upstreams.ts';
import type { Replicas } from './replicas.ts';
import type { Attempt } from './resilience.ts';

/** A server's response. `body` is the parsed JSON, undefined when there is none. */
export interface HttpResponse {
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
  /** For the call policy, which chooses a replica for each attempt. */
  readonly replicas: Replicas<HttpReplica>;
  /**
   * One attempt. Returns responses below 500, except 408 and 429. Others, and failed connections, are TransientError:
   * NotSentError where no connection was made, ConnectionLostError where it broke.
   */
  send(request: HttpRequest, attempt: Attempt<HttpReplica>): Promise<HttpResponse>;
}

const PASSING_STATUSES = new Set([408, 429]);

/** An attempt's time is over. */
class AttemptTimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

/** A client of one service, at its replicas' `origins`, or where the upstreams of the edge say. */
export function createHttpClient(edge: string, origins: readonly string[], upstreams?: EdgeUpstreams): HttpClient {
  const replicas = openHttpReplicas(origins, upstreams);

  async function request(
    { method, path, body, headers: given }: HttpRequest,
    attempt: Attempt<HttpReplica>,
  ): Promise<HttpResponse> {
    const time = timeOf(attempt);
    const headers = {
      accept: 'application/json',
      [DEADLINE_HEADER]: String(attempt.timeoutMs),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...given,
    };
    const text = body === undefined ? null : JSON.stringify(body);
    try {
      const response = await attempt.replica.send({ method, path, headers, body: text, signal: time.signal }, (read) =>
        read.text(),
      );
      return { status: response.statusCode, body: parseBody(edge, response.body) };
    } catch (error) {
      if (error instanceof TransientError) throw error;
      throw new ConnectionLostError(`${edge}: the call failed`, { cause: error });
    } finally {
      time.over();
    }
  }

  return {
    replicas,
    async send(call, attempt) {
      const response = await request(call, attempt);
      if (response.status >= 500 || PASSING_STATUSES.has(response.status)) {
        throw new TransientError(`${edge}: responded ${response.status}`);
      }
      return response;
    },
    [Symbol.asyncDispose]: () => replicas[Symbol.asyncDispose](),
  };
}

function parseBody(edge: string, text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new TransientError(`${edge}: the body is not JSON`, { cause: error });
  }
}

/**
 * A signal that aborts when the attempt's time is over, with that reason. `over` is called when the response has
 * arrived: nothing is left to abort.
 */
function timeOf({ signal, timeoutMs }: Attempt): { readonly signal: AbortSignal; over(): void } {
  const controller = new AbortController();
  const end = () => controller.abort(new AttemptTimeoutError(`no response in time, at most ${timeoutMs} ms`));
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  return { signal: controller.signal, over: () => signal.removeEventListener('abort', end) };
}
