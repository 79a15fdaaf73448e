/**
 * Orders at a constant rate, each read back, for `npm run bench:restarts`. The scenario `kept` keeps its connections; `new`
 * opens one for each request. SHOP_CONNECTIONS says which: keep, new or mixed.
 */
import http from 'k6/http';
import type { Options } from 'k6/options';
import { seed, shopUrl } from '../lib/environment.ts';
import { CLIENT_TIMEOUT_MS } from '../lib/k6-options.ts';
import { confirmedOrder } from '../lib/order-mix.ts';
import { bodyOf, placeOrder, textOf, transportCode, turn } from '../lib/place-order.ts';
import { type Connection, type Connections, ratesByConnection } from './connections.ts';
import type { ReadRecord } from './read-record.ts';

export { handleSummary } from '../lib/summary.ts';

const { SHOP_RATE, SHOP_DURATION_S, SHOP_CONNECTIONS } = __ENV;
const rates = ratesByConnection(Number(SHOP_RATE), SHOP_CONNECTIONS as Connections);

/** Users for each order a second. One that is missing drops an order, so that most are there from the beginning. */
const USERS_PER_RATE = { first: 4, most: 8 };

export const options: Options = {
  scenarios: Object.fromEntries(
    rates.map(([connection, rate]) => [
      connection,
      {
        executor: 'constant-arrival-rate',
        rate,
        timeUnit: '1s',
        duration: `${SHOP_DURATION_S}s`,
        preAllocatedVUs: rate * USERS_PER_RATE.first,
        maxVUs: Math.max(50, rate * USERS_PER_RATE.most),
        gracefulStop: '25s',
      },
    ]),
  ),
  summaryTrendStats: ['med', 'p(99)', 'max'],
};

/** The client of k6 closes a connection after a response to such a request. */
const headers: Readonly<Record<Connection, Readonly<Record<string, string>>>> = {
  kept: {},
  new: { connection: 'close' },
};

export default function (): void {
  const { phase, index } = turn();
  const own = headers[phase as Connection];
  const { orderId, status } = placeOrder(confirmedOrder(seed, phase, index), own);
  if (orderId !== undefined) readBack(orderId, { status, headers: own });
}

function readBack(orderId: string, sent: { status: string | undefined; headers: Readonly<Record<string, string>> }) {
  const at = Date.now();
  const response = http.get(`${shopUrl}/api/orders/${orderId}`, {
    headers: { ...sent.headers },
    timeout: `${CLIENT_TIMEOUT_MS}ms`,
    responseType: 'text',
    tags: { name: 'read order' },
  });
  const body = bodyOf(response);
  const { blocked, connecting, duration } = response.timings;
  const read: ReadRecord = {
    read: turn().phase as Connection,
    opened: connecting > 0,
    at,
    tookMs: blocked + connecting + duration,
    http: response.status,
    orderId,
    wanted: sent.status,
    status: textOf(body.status),
    code: response.status === 0 ? transportCode(response) : textOf(body.code),
  };
  console.log(JSON.stringify(read));
}
