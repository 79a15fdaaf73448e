import { TransientError } from '@shop/kit/failures.ts';
import {
  type ClientAnswer,
  type ClientRequest,
  openTracedPool,
  type TracedPool,
} from '@shop/kit/spans/client-requests.ts';
import type { Pool } from 'undici';

export type BufferedAnswer = ClientAnswer<Buffer>;

export type UpstreamRequest = Omit<ClientRequest, 'signal'>;

/** The connection broke after it had been made: orders may have acted on the request. */
export class ConnectionLostError extends TransientError {
  override readonly name = 'ConnectionLostError';
}

/** The replicas of one service. */
export interface Replicas extends AsyncDisposable {
  /**
   * Sends to the next replica in turn; to another only when a connection was refused, because then nothing was sent, or
   * when the request is a GET.
   * Rejects with TransientError when no answer came, ConnectionLostError where that leaves open whether it took effect.
   */
  send(request: UpstreamRequest, signal: AbortSignal): Promise<BufferedAnswer>;
  /** Resolves when one replica at least is alive. */
  check(signal: AbortSignal): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 1_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** How long a replica whose connection failed is asked last, in ms. */
const AVOID_MS = 1_000;

/** Codes of failures before a connection was there. */
const NOTHING_SENT = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

interface Replica {
  readonly upstream: TracedPool;
  failedAt: number;
}

export function createReplicas(
  origins: readonly string[],
  connections: number,
  now = () => performance.now(),
): Replicas {
  const replicas: Replica[] = origins.map((origin) => ({
    upstream: openTracedPool(origin, poolOptions(connections)),
    failedAt: -Infinity,
  }));
  let turn = 0;

  /** Every replica once: from the next in turn on, those that refused lately or are about to close last. */
  function candidates(): readonly Replica[] {
    const first = turn++ % replicas.length;
    const inTurn = [...replicas.slice(first), ...replicas.slice(0, first)];
    const isAvoided = ({ failedAt, upstream }: Replica) => upstream.isDraining || now() - failedAt < AVOID_MS;
    return [...inTurn.filter((replica) => !isAvoided(replica)), ...inTurn.filter(isAvoided)];
  }

  return {
    async send(request, signal) {
      let failure: unknown;
      for (const replica of candidates()) {
        try {
          return await replica.upstream.send({ ...request, signal }, async (body) =>
            Buffer.from(await body.arrayBuffer()),
          );
        } catch (error) {
          // An end that the caller asked for says nothing of the replica.
          if (!signal.aborted) replica.failedAt = now();
          const mayBeRepeated = wasRefused(error) || (request.method === 'GET' && !signal.aborted);
          if (!mayBeRepeated) throw new ConnectionLostError('the connection to orders failed', { cause: error });
          failure = error;
        }
      }
      throw new TransientError('no replica of orders could be reached', { cause: failure });
    },
    async check(signal) {
      await Promise.any(replicas.map(({ upstream }) => checkAlive(upstream.pool, signal)));
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(replicas.map(({ upstream }) => upstream.pool.destroy()));
    },
  };
}

/** The limits of time are the caller's, by its signal. */
function poolOptions(connections: number): Pool.Options {
  return {
    connections,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    keepAliveTimeout: 30_000,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: MAX_ANSWER_BYTES,
  };
}

async function checkAlive(pool: Pool, signal: AbortSignal): Promise<void> {
  const { statusCode, body } = await pool.request({ method: 'GET', path: '/health/live', signal });
  await body.dump();
  if (statusCode !== 200) throw new Error(`answered ${statusCode}`);
}

function wasRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && NOTHING_SENT.has(String(error.code));
}
