import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Health } from './health.ts';

/**
 * Header of every response of a server that is about to close, beside `Connection: close`: its callers leave their kept
 * connections and prefer other replicas. Envoy has `x-envoy-immediate-health-check-fail` for the same purpose.
 */
export const DRAINING_HEADER = 'shop-draining';

/** Lengths of the lame-duck phase, in ms. */
export interface LameDuckLimits {
  /** It ends when no request has arrived for this long, also before the close. Probes do not count. */
  readonly quietMs: number;
  /** The same for a connection without any request yet: its client is about to send one. As `quietMs` where absent. */
  readonly unusedMs?: number;
  /** It ends after this at the latest. */
  readonly maxMs: number;
}

/** A caller learns of the end with its next response; the remaining time is for callers that ignore it. */
export const LAME_DUCK: LameDuckLimits = { quietMs: 250, unusedMs: 1_500, maxMs: 1_500 };

/** How often the end of the phase is checked, in ms. */
const LOOK_MS = 25;

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Takes requests as before, each response the last one of its connection. Resolves when the callers have left or the
     * time is over. Closing the server then loses no request, unless callers keep sending.
     */
    lameDuck(limits?: LameDuckLimits): Promise<void>;
  }
}

const responses = new WeakMap<Socket, ServerResponse>();

/** The current or last response of a connection, if any. */
export function responseOn(socket: Socket): ServerResponse | undefined {
  return responses.get(socket);
}

/**
 * Tracks the connections of `server`. A connection that has not sent a byte is kept for `unusedMs`, like an idle one, and
 * is closed with the server. Node treats it as a request in flight: it would reject it after the request timeout, and wait
 * for it at the end. A response in flight at the close says that it is the last one of its connection. Otherwise the
 * connection would hold the server until its client closes it. Node closes idle connections, and Fastify ends those whose
 * request arrives later.
 */
export function followConnections(server: FastifyInstance, unusedMs: number): void {
  /** With the time when each was opened, on the monotonic clock in ms. */
  const open = new Map<Socket, number>();
  let isDraining = false;
  let usedAt = Number.NEGATIVE_INFINITY;

  const closeIfUnused = (socket: Socket) => void (socket.bytesRead === 0 && socket.destroy());
  server.server.on('connection', (socket) => {
    open.set(socket, performance.now());
    const timer = setTimeout(closeIfUnused, unusedMs, socket);
    socket.once('close', () => {
      clearTimeout(timer);
      open.delete(socket);
    });
  });
  server.addHook('onRequest', (request, reply, done) => {
    responses.set(request.raw.socket, reply.raw);
    if (!isProbe(request.raw)) usedAt = performance.now();
    if (isDraining) announceEnd(reply.raw);
    done();
  });
  server.addHook('preClose', (done) => {
    for (const socket of open.keys()) closeIfUnused(socket);
    announceToAll();
    done();
  });
  server.decorate('lameDuck', async ({ quietMs, unusedMs = quietMs, maxMs } = LAME_DUCK) => {
    isDraining = true;
    announceToAll();
    const endsAt = performance.now() + maxMs;
    for (;;) {
      await readArrived();
      if (performance.now() >= Math.min(endsAt, Math.max(usedAt + quietMs, lastUnused() + unusedMs))) return;
      await delay(LOOK_MS);
    }
  });

  /** When the last connection was opened whose first request has not arrived yet. */
  function lastUnused(): number {
    const unused = [...open].filter(([{ bytesRead }]) => bytesRead === 0);
    return Math.max(Number.NEGATIVE_INFINITY, ...unused.map(([, openedAt]) => openedAt));
  }

  function announceToAll(): void {
    for (const socket of open.keys()) {
      const response = responses.get(socket);
      if (response !== undefined) announceEnd(response);
    }
  }
}

/**
 * Resolves when all that had arrived is read: a process that did not run for some time would otherwise seem quiet, and reset
 * requests. Sockets are read between two turns, so the first one alone may come before that.
 */
async function readArrived(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

/** The response is the last one of its connection, if it has not begun. */
function announceEnd(response: ServerResponse): void {
  if (response.headersSent) return;
  response.setHeader('connection', 'close');
  response.setHeader(DRAINING_HEADER, '1');
}

/** Health probes do not count as requests. */
function isProbe(request: IncomingMessage): boolean {
  return request.url?.startsWith('/health') === true;
}

/**
 * Ends an HTTP service: not ready, still taking requests, then closed once those in flight have their response. A port that
 * others serve, too, is left first: from then on each new connection reaches another process.
 */
export async function drainServer(
  health: Health,
  server: Pick<FastifyInstance, 'lameDuck' | 'close'>,
  { shared, hasSuccessor = true }: { shared?: { leave(): Promise<void> } | undefined; hasSuccessor?: boolean } = {},
): Promise<void> {
  health.drain();
  let left = hasSuccessor ? shared?.leave() : undefined;
  await server.lameDuck();
  left ??= shared?.leave();
  await server.close();
  await left;
}
