/** The same saga as a workflow of DBOS Transact, in one process; its system database is in the same server. */
import { randomUUID } from 'node:crypto';
import { closedLoop, type LoopLimit, type LoopResult } from '../measure/closed-loop.ts';
import { handleCalls } from '../measure/worker.ts';
import { type DatabaseUrls, ENGINE_POOLS, openEngineDatabases } from './databases.ts';
import { runPeerOrder } from './peer-order.ts';
import { nextProduct } from './products.ts';
import { createDownstream } from './shop-sql.ts';

/** What is used of the package, which is installed beside the clone and not known when this is compiled. */
interface Dbos {
  setConfig(config: {
    name: string;
    systemDatabaseUrl: string;
    systemDatabasePoolSize: number;
    logLevel: string;
  }): void;
  registerWorkflow<Args extends unknown[]>(
    work: (...args: Args) => Promise<void>,
    options: { name: string },
  ): (...args: Args) => Promise<void>;
  runStep<T>(step: () => Promise<T>, options: { name: string }): Promise<T>;
  launch(): Promise<void>;
}

export interface DbosOptions {
  readonly urls: DatabaseUrls;
  /** URL of its database; holds a password. */
  readonly systemUrl: string;
  readonly module: string;
}

let place: (() => Promise<void>) | undefined;

handleCalls({
  async open({ urls, systemUrl, module }: DbosOptions): Promise<void> {
    const { DBOS } = (await import(module)) as { DBOS: Dbos };
    const downstream = createDownstream(openEngineDatabases(urls, 'dbos'));
    const systemDatabasePoolSize = ENGINE_POOLS.orders;
    DBOS.setConfig({ name: 'bench', systemDatabaseUrl: systemUrl, systemDatabasePoolSize, logLevel: 'error' });
    const workflow = DBOS.registerWorkflow(
      (orderId: string, productId: number) =>
        runPeerOrder(downstream, (name, step) => DBOS.runStep(step, { name }), { orderId, productId }),
      { name: 'order' },
    );
    await DBOS.launch();
    place = () => workflow(randomUUID(), nextProduct());
  },
  run({ concurrency, limit }: { concurrency: number; limit: LoopLimit }): Promise<LoopResult> {
    if (place === undefined) throw new Error('call open first');
    return closedLoop(concurrency, limit, place);
  },
});
