/**
 * A client over `node:http` that repeats nothing: what it sees is what happened. The client of k6 is written in Go, and
 * repeats some requests when a kept connection was closed.
 */
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Connection, type Connections, ratesByConnection } from '../../../scenarios/bench/connections.ts';
import type { ReadRecord } from '../../../scenarios/bench/read-record.ts';
import { CLIENT_TIMEOUT_MS } from '../../../scenarios/lib/k6-options.ts';
import { confirmedOrder } from '../../../scenarios/lib/order-mix.ts';
import type { OrderRecord } from '../../../scenarios/lib/record.ts';
import { createArrivals } from './arrivals.ts';
import { failureOfOrder } from './outcomes.ts';

export interface OwnLoad {
  readonly gatewayUrl: string;
  /** Orders a second; each is read back. */
  readonly rate: number;
  readonly connections: Connections;
  /** Of records. */
  readonly phase: string;
  /** Begins every Idempotency-Key. */
  readonly keys: string;
  onOrder(record: OrderRecord): void;
  onRead(record: ReadRecord): void;
}

/** What the client itself could not do in time. */
export interface Pace {
  readonly due: number;
  /** Sent more than 100 ms after they were due: the machine was too busy. */
  readonly late: number;
  /** Never sent, because too many were in flight. */
  readonly dropped: number;
}

export interface OwnClient {
  readonly pace: Pace;
  /** Sends no more, and resolves when every response has come. */
  stop(): Promise<Pace>;
}

const TICK_MS = 5;
const LATE_MS = 100;
const MOST_IN_FLIGHT = 1_000;
const SEED = 7;

export function startOwnClient(load: OwnLoad): OwnClient {
  // In turn: an idle connection that the server closes may be chosen in the same moment (decision 0026).
  const kept = new Agent({ keepAlive: true, scheduling: 'fifo' });
  const inFlight = new Set<Promise<void>>();
  const pace = { due: 0, late: 0, dropped: 0 };
  let index = 0;
  const arrive = (connection: Connection, dueMs: number) => {
    pace.due += 1;
    index += 1;
    if (inFlight.size >= MOST_IN_FLIGHT) {
      pace.dropped += 1;
      return;
    }
    if (performance.now() - dueMs > LATE_MS) pace.late += 1;
    const work = placeAndRead(load, { agent: connection === 'kept' ? kept : false, connection, index });
    const one = work.finally(() => inFlight.delete(one));
    inFlight.add(one);
  };
  const startMs = performance.now();
  const streams = ratesByConnection(load.rate, load.connections).map(([connection, rate]) => ({
    connection,
    arrivals: createArrivals(rate, startMs),
  }));
  const timer = setInterval(() => {
    for (const { connection, arrivals } of streams)
      for (const dueMs of arrivals.due(performance.now())) arrive(connection, dueMs);
  }, TICK_MS);
  return {
    pace,
    async stop() {
      clearInterval(timer);
      await Promise.all(inFlight);
      kept.destroy();
      return { ...pace };
    },
  };
}

interface Turn {
  /** False: a separate connection. */
  readonly agent: Agent | false;
  readonly connection: Connection;
  readonly index: number;
}

async function placeAndRead(load: OwnLoad, { agent, connection, index }: Turn): Promise<void> {
  const key = `${load.keys}-${connection}-${index}`;
  const order = confirmedOrder(SEED, load.phase, index);
  const at = Date.now();
  const placed = await exchange({ url: `${load.gatewayUrl}/api/orders`, agent, body: order.body, key });
  const { id: orderId, status, reason } = placed.body;
  const record: OrderRecord = {
    phase: load.phase,
    index,
    key,
    at,
    tookMs: placed.tookMs,
    http: placed.http,
    kind: order.kind,
    distinctProducts: order.distinctProducts,
    expected: false,
    opened: placed.opened,
    isFirst: true,
    orderId,
    status,
    reason,
    code: placed.code,
    traceId: placed.traceId,
  };
  load.onOrder({ ...record, expected: failureOfOrder(record) === undefined });
  if (orderId === undefined) return;
  const readAt = Date.now();
  const read = await exchange({ url: `${load.gatewayUrl}/api/orders/${orderId}`, agent });
  load.onRead({
    read: connection,
    opened: read.opened,
    at: readAt,
    tookMs: read.tookMs,
    http: read.http,
    orderId,
    wanted: status,
    status: read.body.status,
    code: read.code,
  });
}

/** Texts of a response's JSON object; a problem's `status` is a number, and is left out. */
type Body = Readonly<Partial<Record<'id' | 'status' | 'reason' | 'code', string>>>;

interface Exchange {
  readonly opened: boolean;
  /** 0 without a whole response. */
  readonly http: number;
  readonly tookMs: number;
  readonly body: Body;
  /** Of a problem, or of the error of the connection. */
  readonly code: string | undefined;
  readonly traceId: string | undefined;
}

interface Asked {
  readonly url: string;
  readonly agent: Agent | false;
  /** Of a POST; undefined: GET. */
  readonly body?: string;
  readonly key?: string;
}

async function exchange(asked: Asked): Promise<Exchange> {
  const beganMs = performance.now();
  const outgoing = send(asked);
  // Until the whole response is there: `timeout` of a request is about a silent connection only.
  const limit = setTimeout(() => outgoing.destroy(codeError('timeout')), CLIENT_TIMEOUT_MS);
  try {
    const response = await responseOf(outgoing);
    const body = textsIn(await text(response));
    return {
      opened: !outgoing.reusedSocket,
      http: response.statusCode as number,
      tookMs: performance.now() - beganMs,
      body,
      code: body.code,
      traceId: String(response.headers.traceparent ?? '').split('-')[1],
    };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return {
      opened: !outgoing.reusedSocket,
      http: 0,
      tookMs: performance.now() - beganMs,
      body: {},
      code: code ?? message,
      traceId: undefined,
    };
  } finally {
    clearTimeout(limit);
  }
}

function send({ url, agent, body, key }: Asked): ClientRequest {
  const outgoing = request(url, {
    agent,
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      connection: agent === false ? 'close' : 'keep-alive',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
    },
  });
  outgoing.end(body);
  return outgoing;
}

function responseOf(outgoing: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once('response', resolve);
    // Also of the connection after the response began, which its reader reports.
    outgoing.on('error', reject);
  });
}

function codeError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

function textsIn(json: string): Body {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return {}; // Not a JSON object, so not the expected response.
  }
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter(([, member]) => typeof member === 'string'));
}
