import { setTimeout as delay } from 'node:timers/promises';
import type { MetricPoint } from '../../otlp/metric-store.ts';
import { ATTEMPTS, totalsOf } from '../analysis/read-evidence.ts';

/** Metrics are exported once a second; in ms. */
const FOR_MS = 4_000;

/** First attempts a second of a service now, by all its callers. Takes 4 s. */
export async function presentRate(
  service: string,
  metrics: (names: readonly string[]) => Promise<readonly MetricPoint[]>,
): Promise<number> {
  const counted = async () => totalsOf(await metrics([ATTEMPTS]), service).requests;
  const before = await counted();
  const began = performance.now();
  await delay(FOR_MS);
  return (Math.max(0, (await counted()) - before) * 1_000) / (performance.now() - began);
}
