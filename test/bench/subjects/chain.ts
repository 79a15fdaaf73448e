import type { Shot } from '../measure/cases.ts';
import type { LoopResult } from '../measure/closed-loop.ts';
import { cpuBetween, readCpu } from '../measure/cpu.ts';
import { startWorker, type Worker } from '../measure/worker.ts';
import type { Load } from './load-worker.ts';

/** In the order in which they can start: who is called before who calls. */
const PARTS = ['catalog', 'stock', 'payments', 'orders', 'gateway'] as const;

export interface Chain extends AsyncDisposable {
  shoot(load: Omit<Load, 'origin'>): Promise<Shot>;
}

/** Five processes with empty handlers, called as an order calls them. */
export async function openChain(loadTool: Worker): Promise<Chain> {
  const workers: Record<string, Worker> = {};
  const ports: Record<string, number> = {};
  const close = async () => {
    await Promise.all(Object.values(workers).map((worker) => worker[Symbol.asyncDispose]()));
  };
  try {
    for (const part of PARTS) {
      const worker = startWorker(new URL('./chain-worker.ts', import.meta.url));
      workers[part] = worker;
      ports[part] = await worker.call<number>(part, ports);
    }
  } catch (error) {
    await close();
    throw error;
  }
  const pids = Object.fromEntries(Object.entries(workers).map(([part, { pid }]) => [part, pid]));
  const cpu = () => readCpu({ ...pids, 'load tool': loadTool.pid });
  return {
    async shoot(load) {
      const before = await cpu();
      const result = await loadTool.call<LoopResult>('run', { ...load, origin: `http://127.0.0.1:${ports.gateway}` });
      return { ...result, cpuMs: cpuBetween(before, await cpu()) };
    },
    [Symbol.asyncDispose]: close,
  };
}
