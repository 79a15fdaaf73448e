import { setTimeout as delay } from 'node:timers/promises';

/** Metrics are exported once a second; in ms. */
const FOR_MS = 4_000;

/** How much is added to a count each second now. Takes 4 s. */
export async function presentRate(count: () => Promise<number>): Promise<number> {
  const before = await count();
  const began = performance.now();
  await delay(FOR_MS);
  return (Math.max(0, (await count()) - before) * 1_000) / (performance.now() - began);
}
