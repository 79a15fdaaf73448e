import type { Server } from '@grpc/grpc-js';
import type { Health } from '@shop/kit/health.ts';
import type { HealthImplementation } from 'grpc-health-check';
import { requireUnbundled } from './unbundled.ts';

const { HealthImplementation: Implementation } =
  requireUnbundled<typeof import('grpc-health-check')>('grpc-health-check');

/** Maximum age of the status that `grpc.health.v1.Health` reports, in ms. */
const REFRESH_MS = 1_000;

/** Names that can be checked: the whole server, and its service. */
const NAMES = ['', 'stock.Inventory'];

export interface HealthReporting extends Disposable {
  /** Checks readiness now and reports it; also called every second. */
  refresh(): Promise<void>;
}

/** `grpc.health.v1.Health` reports what `/health/ready` says. */
export function addHealthReporting(server: Server, health: Health): HealthReporting {
  const reported: HealthImplementation = new Implementation(Object.fromEntries(NAMES.map((name) => [name, 'UNKNOWN'])));
  reported.addToServer(server);
  async function refresh() {
    const { status } = await health.readiness();
    for (const name of NAMES) reported.setStatus(name, status === 'ready' ? 'SERVING' : 'NOT_SERVING');
  }
  const timer = setInterval(() => void refresh(), REFRESH_MS).unref();
  return { refresh, [Symbol.dispose]: () => clearInterval(timer) };
}
