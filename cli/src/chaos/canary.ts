import { connect } from 'node:net';

/** The protocol of an edge. */
export type Protocol = 'http' | 'grpc' | 'postgres' | 'amqp';

/**
 * `hello`: the smallest exchange of the protocol, until the first byte of the response. `close`: an exchange that the
 * called side ends. `bulk`: the longest
 * response without an account, until the called side ends it.
 */
export type Conversation = 'hello' | 'close' | 'bulk';

/** The result of one connection through an edge. Times in ms. */
export interface CanaryResult {
  readonly ended: 'responded' | 'closed' | 'reset' | 'refused' | 'silent';
  /** From sending to the first byte. */
  readonly firstByteMs?: number;
  readonly tookMs: number;
  readonly bytes: number;
  readonly sentBytes: number;
  /** Pieces in which the response arrived. */
  readonly pieces: number;
  /** From the last byte to the end of the connection. */
  readonly closeMs?: number;
}

export interface CanaryOptions {
  /** How long to wait for the end of the conversation, ms. */
  readonly limitMs: number;
  /** Default: `hello`. */
  readonly conversation?: Conversation;
  /** Size of an HTTP bulk (about 160 bytes of response each); other protocols have one size. */
  readonly bulkRequests?: number;
}

/**
 * One connection through an edge, as its caller would open it: its result shows the effect of the fault.
 * `address` is `host:port`. Never rejects for what happens on the connection.
 */
export function canary(
  address: string,
  protocol: Protocol,
  { limitMs, conversation = 'hello', bulkRequests = BULK_REQUESTS }: CanaryOptions,
): Promise<CanaryResult> {
  const {
    first,
    next,
    nextAfterBytes = 1,
  } = protocol === 'http' && conversation === 'bulk' ? httpBulk(bulkRequests) : requests[protocol][conversation];
  const [host = '', port] = address.split(':');
  return new Promise((resolve) => {
    const began = performance.now();
    let firstAt: number | undefined;
    let lastAt: number | undefined;
    let bytes = 0;
    let pieces = 0;
    const socket = connect({ host, port: Number(port), noDelay: true });
    const finish = (ended: CanaryResult['ended']) => {
      clearTimeout(limit);
      socket.destroy();
      const now = performance.now();
      resolve({
        ended,
        ...(firstAt !== undefined && { firstByteMs: firstAt - began }),
        tookMs: now - began,
        bytes,
        sentBytes: first.length + (Buffer.isBuffer(next) ? next.length : 0),
        pieces,
        ...(lastAt !== undefined && ended !== 'responded' && ended !== 'silent' && { closeMs: now - lastAt }),
      });
    };
    const limit = setTimeout(() => finish('silent'), limitMs);
    socket.once('connect', () => socket.write(first));
    socket.on('data', (data) => {
      firstAt ??= performance.now();
      lastAt = performance.now();
      const isTimeForNext = bytes < nextAfterBytes && bytes + data.length >= nextAfterBytes;
      bytes += data.length;
      pieces += 1;
      if (conversation === 'hello') finish('responded');
      // PostgreSQL reads the second message only after its response to the first.
      else if (next !== undefined && isTimeForNext) next === 'end' ? socket.end() : socket.write(next);
    });
    socket.once('end', () => finish('closed'));
    socket.once('error', (error: NodeJS.ErrnoException) => {
      finish(error.code === 'ECONNREFUSED' ? 'refused' : 'reset');
    });
    socket.once('close', () => finish('closed'));
  });
}

/** `served in 12 ms`, `refused`: for evidence. */
export function describeCanary({ ended, firstByteMs, tookMs, bytes }: CanaryResult): string {
  if (ended === 'responded') return `served in ${Math.round(firstByteMs ?? tookMs)} ms`;
  if (ended === 'silent') return `${bytes === 0 ? 'silent' : 'unfinished'} for ${Math.round(tookMs)} ms`;
  const how = { closed: 'closed', reset: 'reset (ECONNRESET)', refused: 'refused (ECONNREFUSED)' }[ended];
  return `${how} after ${Math.round(tookMs)} ms${bytes > 0 ? ` and ${bytes} bytes` : ''}`;
}

/** What is sent first, and what follows when the response has so many bytes (1): more data, or the end of our side. */
interface Exchange {
  readonly first: Buffer;
  readonly next?: Buffer | 'end';
  readonly nextAfterBytes?: number;
}

const BULK_REQUESTS = 200;
const BULK_PINGS = 500;
const padding = 'x'.repeat(280);
const get = (connection: string) =>
  `GET /health/live HTTP/1.1\r\nHost: canary\r\nX-Padding: ${padding}\r\nConnection: ${connection}\r\n\r\n`;

/** HTTP/2's connection preface and an empty SETTINGS frame; the server begins with its own SETTINGS (RFC 9113, 3.4). */
const http2Start = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);
/** The response to each is a frame of the same size. */
const http2Ping = Buffer.from([0, 0, 8, 6, 0, 0, 0, 0, 0, ...Buffer.from('shopctl!')]);
/** DATA on stream 0 is a connection error, which ends it. */
const http2Error = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0]);
const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

function httpBulk(requests: number): Exchange {
  return { first: Buffer.from(get('keep-alive').repeat(requests - 1) + get('close')) };
}

const requests: Readonly<Record<Protocol, Readonly<Record<Conversation, Exchange>>>> = {
  http: {
    // Kept alive: a close by the server passes where its data is swallowed.
    hello: { first: Buffer.from(get('keep-alive')) },
    close: { first: Buffer.from(get('close')) },
    bulk: httpBulk(BULK_REQUESTS),
  },
  grpc: {
    hello: { first: http2Start },
    // Anything but the preface is a connection error.
    close: { first: Buffer.from('NOT * HTTP/2.0\r\n\r\nNO\r\n\r\n') },
    // The error only after the last response: the server drops unsent data when it reads the error.
    bulk: {
      first: Buffer.concat([http2Start, ...Array<Buffer>(BULK_PINGS).fill(http2Ping)]),
      next: http2Error,
      nextAfterBytes: BULK_PINGS * http2Ping.length,
    },
  },
  postgres: {
    // SSLRequest; the response is one byte.
    hello: { first: sslRequest },
    // Then a CancelRequest for no backend, after which the server closes without a message.
    close: { first: sslRequest, next: Buffer.from([0, 0, 0, 16, 4, 210, 22, 46, 0, 0, 0, 0, 0, 0, 0, 0]) },
    // Or a StartupMessage (3.0) without a user, which is refused with an error message.
    bulk: { first: sslRequest, next: Buffer.from([0, 0, 0, 9, 0, 3, 0, 0, 0]) },
  },
  amqp: {
    // Protocol header 0-9-1; the response is connection.start, for another version the right header and the end.
    hello: { first: Buffer.from('AMQP\0\0\x09\x01', 'latin1') },
    close: { first: Buffer.from('AMQP\0\0\x09\x63', 'latin1') },
    bulk: { first: Buffer.from('AMQP\0\0\x09\x01', 'latin1'), next: 'end' },
  },
};
