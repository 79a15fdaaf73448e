import type { Database } from '@shop/kit/database.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { expect, it } from 'vitest';
import { type OrderMetrics, unreadGauges } from './metrics.ts';
import { startRecovery } from './recovery.ts';
import type { SagaRunner } from './saga-runner.ts';

it('adopts no saga of another instance while the own lease is not steady', async () => {
  const statements: string[] = [];
  const query = async ({ name }: { name: string }) => {
    statements.push(name);
    return { rows: [], count: 0 };
  };
  let [isSteady, scans] = [false, 0];
  const mayAdopt = () => {
    scans += 1;
    return isSteady;
  };
  const recovery = startRecovery({
    database: { query } as unknown as Database,
    ownership: { id: 'own', mayAdopt },
    sagaRunner: { activeIds: () => [] } as unknown as SagaRunner,
    metrics: {} as OrderMetrics,
    gauges: { ...unreadGauges, activeSagas: 0 },
    logger: createLogger({ service: 'orders', instance: 'orders-test', level: 'silent' }),
  });
  await expect.poll(() => scans, { timeout: 10_000 }).toBeGreaterThan(1);
  expect(statements).not.toContain('UPDATE orders: adopt');
  isSteady = true;
  await expect.poll(() => statements, { timeout: 10_000 }).toContain('UPDATE orders: adopt');
  await recovery.stop();
});
