import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type LogPosition, logEnd } from '../../../platform/log-reader.ts';
import { rotateIfLarge } from '../../../platform/rotation.ts';
import type { LogProbe } from '../../format/schema.ts';
import { createFakeContext } from '../testing/fake-context.ts';
import { probeLog } from './log.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-log-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const line = (msg: string, more: object = {}) =>
  `${JSON.stringify({ time: '2026-11-21T00:00:01Z', level: 'error', msg, ...more })}\n`;

function look(tolerance: unknown, logs: Readonly<Record<string, LogPosition>> = {}) {
  const { context } = createFakeContext({ start: { logs } });
  const logged = { ...context, platform: { ...context.platform, project: { logDir: folder } } } as typeof context;
  const provider = { type: 'log', service: 'orders', level: 'error' };
  return probeLog({ name: 'log', type: 'probe', provider, tolerance } as unknown as LogProbe, logged);
}

it('of no line it cannot be said that each has a trace id', async () => {
  await writeFile(join(folder, 'orders-1.log'), '');
  expect(await look({ traced: true })).toMatchObject({ verdict: 'unknown', observed: 'no such line' });
  await writeFile(join(folder, 'orders-1.log'), line('failed', { trace_id: 'a' }));
  expect(await look({ traced: true })).toMatchObject({ verdict: 'pass' });
});

it('counts what was written since, whatever the clock of the service says', async () => {
  const file = join(folder, 'orders-1.log');
  await writeFile(file, line('failed before'));
  const logs = { 'orders-1': await logEnd(folder, 'orders-1') };
  await appendFile(
    file,
    line('failed', { time: '1970-01-01T00:00:00Z' }) + line('failed', { time: '2099-01-01T00:00:00Z' }),
  );
  expect(await look(2, logs)).toMatchObject({ verdict: 'pass', observed: '2 lines' });
});

it('counts across a rotation, and is unknown after a second one', async () => {
  const file = join(folder, 'orders-1.log');
  await writeFile(file, line('failed before'));
  const logs = { 'orders-1': await logEnd(folder, 'orders-1') };
  await appendFile(file, line('failed'));
  await rotateIfLarge(file, 10);
  await appendFile(file, line('failed again'));
  expect(await look(2, logs)).toMatchObject({ verdict: 'pass', observed: '2 lines' });
  await rotateIfLarge(file, 10);
  expect(await look(2, logs)).toMatchObject({
    verdict: 'unknown',
    observed: 'lines since then were lost by log rotation',
  });
});
