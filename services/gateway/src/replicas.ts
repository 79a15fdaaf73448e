import { ConnectionLostError, NotSentError } from '@shop/kit/failures.ts';
import { createHttpReplica, type HttpReplica } from '@shop/kit/http-replica.ts';
import type { ClientRequest, ClientResponse } from '@shop/kit/spans/client-requests.ts';

export type BufferedResponse = ClientResponse<Buffer>;

export type UpstreamRequest = Omit<ClientRequest, 'signal'>;

/** The replicas of orders. */
export interface Replicas extends AsyncDisposable {
  /** For the call policy, which chooses a replica for each attempt. */
  readonly all: readonly HttpReplica[];
  /** Resolves when one replica at least is alive. */
  check(signal: AbortSignal): Promise<void>;
}

export function createReplicas(origins: readonly string[]): Replicas {
  const all = origins.map((origin) => createHttpReplica(origin));
  return {
    all,
    async check(signal) {
      await Promise.any(all.map((replica) => replica.check(signal)));
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(all.map((replica) => replica[Symbol.asyncDispose]()));
    },
  };
}

/** Rejects with NotSentError when there was no connection, and with ConnectionLostError when it broke. */
export async function sendTo(
  replica: HttpReplica,
  request: UpstreamRequest,
  signal: AbortSignal,
): Promise<BufferedResponse> {
  try {
    return await replica.send({ ...request, signal }, async (body) => Buffer.from(await body.arrayBuffer()));
  } catch (error) {
    if (error instanceof NotSentError) throw error;
    throw new ConnectionLostError('the connection to orders failed', { cause: error });
  }
}
