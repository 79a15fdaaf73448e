/** The same saga as a handler of Restate, steps and load in one process; its server is another, reached by its ingress. */
import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { closedLoop, type LoopLimit, type LoopResult } from '../measure/closed-loop.ts';
import { handleCalls } from '../measure/worker.ts';
import { type DatabaseUrls, openEngineDatabases } from './databases.ts';
import { runPeerOrder } from './peer-order.ts';
import { nextProduct } from './products.ts';
import { createDownstream } from './shop-sql.ts';

/** What is used of the package, which is installed beside the clone and not known when this is compiled. */
interface Context {
  run<T>(name: string, step: () => Promise<T>): Promise<T>;
}
interface Input {
  readonly orderId: string;
  readonly productId: number;
}
interface Restate {
  service(definition: {
    name: string;
    handlers: Record<string, (context: Context, input: Input) => Promise<void>>;
  }): object;
  endpoint(): { bind(service: object): { listen(port: number): Promise<number> } };
}

export interface RestateOptions {
  readonly urls: DatabaseUrls;
  readonly module: string;
  /** Base URLs of the server. */
  readonly ingress: string;
  readonly admin: string;
  /** Where this process serves the server's calls. */
  readonly port: number;
}

let place: (() => Promise<void>) | undefined;

handleCalls({
  async open({ urls, module, ingress, admin, port }: RestateOptions): Promise<void> {
    const restate = (await import(module)) as Restate;
    const downstream = createDownstream(openEngineDatabases(urls, 'restate'));
    const orders = restate.service({
      name: 'orders',
      handlers: {
        place: (context, input) => runPeerOrder(downstream, (name, step) => context.run(name, step), input),
      },
    });
    await restate.endpoint().bind(orders).listen(port);
    await post(new Pool(admin), '/deployments', { uri: `http://127.0.0.1:${port}` });
    const pool = new Pool(ingress, { connections: 64 });
    place = () => post(pool, '/orders/place', { orderId: randomUUID(), productId: nextProduct() });
  },
  run({ concurrency, limit }: { concurrency: number; limit: LoopLimit }): Promise<LoopResult> {
    if (place === undefined) throw new Error('call open first');
    return closedLoop(concurrency, limit, place);
  },
});

async function post(pool: Pool, path: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const response = await pool.request({ method: 'POST', path, headers, body: JSON.stringify(body) });
  const text = await response.body.text();
  if (response.statusCode >= 300) throw new Error(`${path} got ${response.statusCode}: ${text}`);
}
