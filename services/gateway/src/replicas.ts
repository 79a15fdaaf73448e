import { ConnectionLostError, NotSentError } from '@shop/kit/failures.ts';
import type { HttpReplica } from '@shop/kit/http-replica.ts';
import type { Replicas } from '@shop/kit/replicas.ts';
import type { ClientRequest, ClientResponse } from '@shop/kit/spans/client-requests.ts';

export type BufferedResponse = ClientResponse<Buffer>;

export type UpstreamRequest = Omit<ClientRequest, 'signal'>;

/** Resolves when one replica at least is alive. */
export async function checkAny({ all }: Replicas<HttpReplica>, signal: AbortSignal): Promise<void> {
  await Promise.any(all.map(({ replica }) => replica.check(signal)));
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
