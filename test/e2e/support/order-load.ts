/** Orders at a steady rate on kept connections, each of which has to be confirmed, by a client that repeats nothing. */
import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { waitUntil } from '../../../cli/src/shared/wait-until.ts';

const PLACED_MS = 30_000;

export interface OrderLoad {
  /** Resolves once orders are there to be repeated. */
  whenPlaced(): Promise<unknown>;
  /** What came back since the last call, without what is expected; and the trace of an order placed since. */
  take(): Promise<{ unexpected: readonly string[]; trace: string }>;
  stop(): Promise<void>;
}

export interface OrderLoadOptions {
  /** Requests a second. */
  readonly rate: number;
  /** `/api/v2/orders`; without it version 1. */
  readonly path?: string;
  /** More fields of each order. */
  readonly fields?: object;
  /**
   * Every second request is an order of before with its key, which has to be the same order, whichever release recorded it.
   */
  readonly repeats?: boolean;
}

interface Placed {
  readonly key: string;
  readonly body: string;
  readonly id: string;
}

/** Starts immediately; `stop` ends it and waits for its responses. */
export function startOrderLoad(
  gatewayUrl: string,
  { rate, path = '/api/orders', fields = {}, repeats = false }: OrderLoadOptions,
): OrderLoad {
  const gateway = new Pool(gatewayUrl, { pipelining: 1, connections: 64 });
  const placed: Placed[] = [];
  const under = new Set<Promise<void>>();
  let unexpected: string[] = [];
  let since: string[] = [];
  let turn = 0;
  const send = async ({ key, body }: Pick<Placed, 'key' | 'body'>) => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': key };
    const response = await gateway.request({ method: 'POST', path, headers, body });
    const { id, status, code } = (await response.body.json()) as { id?: string; status?: string; code?: string };
    return { id, trace: String(response.headers.traceparent), outcome: `${response.statusCode} ${code ?? status}` };
  };
  const place = async () => {
    const body = JSON.stringify({
      customer: `Olena ${randomUUID()}`,
      lines: [{ productId: 1, quantity: 1 }],
      ...fields,
    });
    const key = randomUUID();
    const { id, trace, outcome } = await send({ key, body });
    if (outcome !== '201 Confirmed' || id === undefined) return void unexpected.push(`new: ${outcome}`);
    placed.push({ key, body, id });
    since.push(trace);
  };
  const repeat = async (earlier: Placed) => {
    const { id, outcome } = await send(earlier);
    if (outcome !== '201 Confirmed' || id !== earlier.id) unexpected.push(`repeated: ${outcome}`);
  };
  const timer = setInterval(() => {
    turn += 1;
    // The first ones of all, which the oldest release recorded, and the latest ones.
    const earlier =
      repeats && turn % 2 === 0 ? placed[turn % 4 === 0 ? turn % placed.length : placed.length - 1] : undefined;
    const work = (earlier === undefined ? place() : repeat(earlier))
      .catch((error: Error) => void unexpected.push(error.message))
      .finally(() => under.delete(work));
    under.add(work);
  }, 1_000 / rate);
  let stopping: Promise<void> | undefined;
  const stop = async () => {
    clearInterval(timer);
    await Promise.all(under);
    await gateway.close();
  };
  return {
    whenPlaced: () => waitUntil('orders', PLACED_MS, () => placed.length > 5 || undefined),
    async take() {
      // What was placed at first may have been served by the release before.
      const count = since.length;
      await waitUntil('an order', PLACED_MS, () => since.length > count || undefined);
      const taken = { unexpected, trace: since.at(-1) as string };
      unexpected = [];
      since = [];
      return taken;
    },
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
}
