import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cloneRoot } from '../platform/project.ts';
import { LATE_SHIPMENT_MS, SLOW_RESPONSE_MS } from './limits.ts';

it.each([
  ['orders-latency', SLOW_RESPONSE_MS],
  ['shipments-freshness', LATE_SHIPMENT_MS],
])('%s counts what takes longer than %i ms', async (name, limitMs) => {
  const text = await readFile(join(cloneRoot(), 'dashboards/slos', `${name}.yaml`), 'utf8');
  const bounds = [...text.matchAll(/le=~"(\d+)\|/g)].map(([, seconds]) => Number(seconds) * 1_000);
  expect([...new Set(bounds)]).toEqual([limitMs]);
});
