import type { FastifyReplyFromOptions } from '@fastify/reply-from';
import type { Forward } from './forwarder.ts';
import type { UpstreamRequest } from './replicas.ts';

/** A whole body where reply-from expects a stream, which it ends by `destroy` when its client has left. */
export class BufferedBody {
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  destroy(): void {
    // Nothing is open: the body has arrived.
  }
}

type Callback = (error: unknown, answer?: { statusCode: number; headers: object; body: BufferedBody }) => void;

/** What reply-from sends through, in place of undici's own pool: our policy, with the answer's body read whole. */
export function createTransport(forward: Forward): NonNullable<FastifyReplyFromOptions['undici']> {
  const request = (options: UpstreamRequest, callback: Callback) => {
    const { method, path, headers, body } = options;
    forward({ method, path, headers: headers ?? {}, body: body ?? null }).then(
      (answer) =>
        callback(null, {
          statusCode: answer.statusCode,
          headers: answer.headers,
          body: new BufferedBody(answer.body),
        }),
      (error: unknown) => callback(error),
    );
  };
  return { request } as unknown as NonNullable<FastifyReplyFromOptions['undici']>;
}
