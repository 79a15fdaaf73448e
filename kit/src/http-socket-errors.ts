import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { responseOn } from './draining.ts';
import type { Logger } from './logger.ts';
import { type ProblemCode, problems, toProblem } from './problems.ts';
import { currentTraceId, serverSpan } from './tracing.ts';

/** For a request that is late by Node's clock, but has arrived unread while this process was paused; in ms. */
const GRACE_MS = 250;

export interface ListenerOptions {
  readonly logger: Logger;
  /** How long a client may take to send its request, in ms. */
  readonly requestTimeoutMs: number;
}

function problemFor(errorCode: string, { requestTimeoutMs }: ListenerOptions): readonly [ProblemCode, string] {
  switch (errorCode) {
    case LATE:
      return ['request_timeout', `the request did not arrive within ${requestTimeoutMs} ms`];
    case TUNNEL:
      return ['method_not_allowed', 'CONNECT asks for a proxy, and this server is none'];
    case 'HPE_HEADER_OVERFLOW':
      return ['headers_too_large', 'the headers are larger than 16 KiB'];
    default:
      return ['malformed_request', 'this is not a valid HTTP/1.1 request'];
  }
}

/** Node's code for a request that does not arrive. */
const LATE = 'ERR_HTTP_REQUEST_TIMEOUT';

/** CONNECT asks for a tunnel. Not a code of Node's: Node reports such a request by an event. */
const TUNNEL = 'CONNECT';

/** Rejects a CONNECT request. Node hands its socket over, and closes it without a response where no listener takes it. */
export function rejectTunnel(socket: Socket, listener: ListenerOptions): void {
  socket.on('error', (error) =>
    listener.logger.debug({ err: error }, 'the client disconnected before its request was rejected'),
  );
  socket.write(rawErrorResponse(TUNNEL, listener));
  socket.destroySoon();
}

/** Responds to input that never became a request: half-sent, not HTTP, headers too large. */
export function handleClientError(error: NodeJS.ErrnoException, socket: Socket, listener: ListenerOptions): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  if (error.code === LATE) rejectUnlessItArrives(socket, listener);
  else rejectRequest(error.code ?? '', socket, listener);
}

/**
 * Node checks its clock before it reads: after a pause of this process, a request that has arrived meanwhile is late. So
 * is a connection that has not sent a byte. Browsers open such connections in advance, and undici opens one after it has
 * given up a request. Their first request would take the 408 for its response; its time begins with its first byte.
 */
function rejectUnlessItArrives(socket: Socket, listener: ListenerOptions): void {
  if (socket.bytesRead === 0) return;
  const before = responseOn(socket);
  const wasComplete = before?.req.complete ?? false;
  setTimeout(() => {
    const current = responseOn(socket);
    const hasArrived = current?.req.complete && (current !== before || !wasComplete);
    if (hasArrived) return;
    if (socket.writable) rejectRequest(LATE, socket, listener);
    else socket.destroy();
  }, GRACE_MS);
}

function rejectRequest(errorCode: string, socket: Socket, listener: ListenerOptions): void {
  const send = () => socket.end(rawErrorResponse(errorCode, listener));
  const current = responseOn(socket);
  // Pipelined behind a valid request, whose response comes first. A request whose body does not arrive has none.
  const isBehind = current !== undefined && !current.writableFinished && current.req.complete;
  if (isBehind) current.once('finish', send);
  else send();
}

/** Not an HTTP request that could have a span: it gets one here. Its trace id is in the response and in the log. */
function rawErrorResponse(errorCode: string, listener: ListenerOptions): string {
  const [code, detail] = problemFor(errorCode, listener);
  const { status } = problems[code];
  return serverSpan('HTTP', (span) => {
    span.setAttributes({ 'http.response.status_code': status, 'error.type': errorCode });
    listener.logger.info({ code, reason: errorCode }, 'a broken request was rejected');
    const body = JSON.stringify(toProblem(code, detail, currentTraceId()));
    return [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      // Required with a 405; empty: no method is allowed on the target of a tunnel (RFC 9110, 10.2.1).
      ...(errorCode === TUNNEL ? ['Allow:'] : []),
      'Content-Type: application/problem+json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n');
  });
}
