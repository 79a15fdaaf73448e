import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { LogProbe } from '../../format/schema.ts';
import { createFakeContext } from '../testing/fake-context.ts';
import { lookAtLog } from './log.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-log-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const line = (msg: string, more: object = {}) =>
  `${JSON.stringify({ time: '2026-11-21T00:00:01Z', level: 'error', msg, ...more })}\n`;

function look(tolerance: unknown) {
  const { context } = createFakeContext({});
  const logged = { ...context, platform: { ...context.platform, project: { logDir: folder } } } as typeof context;
  const provider = { type: 'log', service: 'orders', level: 'error' };
  return lookAtLog({ name: 'log', type: 'probe', provider, tolerance } as unknown as LogProbe, logged);
}

it('of no line it cannot be said that each has a trace id', async () => {
  await writeFile(join(folder, 'orders-1.log'), '');
  expect(await look({ traced: true })).toMatchObject({ outcome: 'unknown', observed: 'no such line' });
  await writeFile(join(folder, 'orders-1.log'), line('failed', { trace_id: 'a' }));
  expect(await look({ traced: true })).toMatchObject({ outcome: 'held' });
});

it('counts also what the log held before it was rotated', async () => {
  await writeFile(join(folder, 'orders-1.log.1'), line('failed'));
  await writeFile(join(folder, 'orders-1.log'), line('failed again'));
  expect(await look(0)).toMatchObject({ outcome: 'deviated', observed: '2 lines' });
});
