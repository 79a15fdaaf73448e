/** The load tool: a process that places orders through a gateway, so that its CPU time is known apart. */
import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { closedLoop, type LoopLimit, type LoopResult } from '../measure/closed-loop.ts';
import { handleCalls } from '../measure/worker.ts';
import { nextProduct } from './products.ts';

export interface Load {
  readonly origin: string;
  readonly concurrency: number;
  readonly limit: LoopLimit;
}

const pools = new Map<string, Pool>();

handleCalls({
  run({ origin, concurrency, limit }: Load): Promise<LoopResult> {
    const pool = pools.get(origin) ?? new Pool(origin, { connections: 64, keepAliveTimeout: 60_000 });
    pools.set(origin, pool);
    return closedLoop(concurrency, limit, () => place(pool));
  },
});

/** One order of one product, with a separate key as clients send it. Throws for any response but 201. */
async function place(pool: Pool): Promise<void> {
  const { statusCode, body } = await pool.request({
    method: 'POST',
    path: '/api/orders',
    headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID() },
    body: JSON.stringify({ customer: 'Bench', lines: [{ productId: nextProduct(), quantity: 1 }] }),
  });
  const text = await body.text();
  if (statusCode !== 201) throw new Error(`an order got ${statusCode}: ${text}`);
}
