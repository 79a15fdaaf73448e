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

type Callback = (error: unknown, response?: { statusCode: number; headers: object; body: BufferedBody }) => void;

/** Replaces undici's pool in reply-from: sends by the call policy, and reads the response's body whole. */
export function createTransport(forward: Forward): NonNullable<FastifyReplyFromOptions['undici']> {
  const request = (options: UpstreamRequest, callback: Callback) => {
    const { method, path, headers, body } = options;
    forward({ method, path, headers: headers ?? {}, body: body ?? null }).then(
      (response) =>
        callback(null, {
          statusCode: response.statusCode,
          headers: response.headers,
          body: new BufferedBody(response.body),
        }),
      (error: unknown) => callback(error),
    );
  };
  return { request } as unknown as NonNullable<FastifyReplyFromOptions['undici']>;
}
