/*
 * Goal: what the command line arms is what the services do. Method: the fault's own files, passed by the kit's failpoints.
 */
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFailpoints, ForcedAnswerError } from '@shop/kit/failpoints.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { armedFailpoints, failpointFolder, resetCounts } from '../../platform/failpoint-files.ts';
import { readCoverage } from '../coverage.ts';
import type { World } from '../world.ts';
import { failpoint } from './failpoint.ts';

let stateDir: string;
let folder: string;
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'shop-failpoint-fault-'));
  folder = failpointFolder({ stateDir });
});
afterEach(() => rmSync(stateDir, { recursive: true }));

const world = () => ({ failpointDir: folder }) as World;
const injection = (target: string, parameters: object) => ({ id: 'abc123', target, parameters });

async function inject(target: string, parameters: object) {
  const one = injection(target, parameters);
  const undo = await failpoint.prepare(one, world());
  await failpoint.inject(one, undo, world());
  return { undo, witness: () => failpoint.witness(one, undo, world()) };
}

describe('an injected failpoint', () => {
  it('waits for its hit, is seen by its act, and is gone', async () => {
    const pass = createFailpoints('orders', folder);
    const { undo, witness } = await inject('orders', { at: 'S4', action: 'error' });
    expect(await armedFailpoints(folder)).toEqual(['orders.S4']);
    expect((await witness()).verdict).toBe('pending');
    await expect(pass('S4')).rejects.toThrow('failpoint S4');
    expect(await witness()).toEqual({ verdict: 'seen', evidence: 'acted 1 times' });
    await expect(failpoint.verify(undo, world())).resolves.toBe('not armed any more');
  });

  it('that acts on every third hit is seen from the third on, and stays until it is taken back', async () => {
    const pass = createFailpoints('payments', folder);
    const { undo, witness } = await inject('payments', { at: 'P0', action: 'respond', status: 503, every: 3 });
    await pass('P0');
    await pass('P0');
    expect((await witness()).verdict).toBe('pending');
    await expect(pass('P0')).rejects.toMatchObject(new ForcedAnswerError('P0', 503));
    expect(await witness()).toEqual({ verdict: 'seen', evidence: 'acted 1 times, armed still' });
    await expect(failpoint.verify(undo, world())).rejects.toThrow('is still there');
    await failpoint.undo(undo, world());
    await failpoint.verify(undo, world());
    await pass('P0');
  });

  it('taken away before it acted is absent, never seen', async () => {
    const { undo, witness } = await inject('orders', { at: 'S4', action: 'kill' });
    await failpoint.undo(undo, world());
    expect((await witness()).verdict).toBe('absent');
  });

  it('is armed by a file for this user only', async () => {
    await inject('orders', { at: 'S4', action: 'kill' });
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'orders.S4')).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['orders', { at: 'S3', action: 'kill' }, 'orders has no failpoint S3'],
    ['orders', { at: 'S4', action: 'drop-reply' }, 'no answer is on its way at orders.S4'],
    ['stock', { at: 'P0', action: 'respond', status: 503 }, 'stock.P0 cannot answer its caller'],
    ['payments', { at: 'P0', action: 'respond' }, 'what to answer is not stated'],
    ['payments', { at: 'P0', action: 'error', status: 503 }, 'error has no status'],
    ['orders', { at: 'S4', action: 'delay' }, 'how long to wait is not stated'],
    ['orders', { at: 'S4', action: 'error', delay: 5 }, 'error has no delay'],
  ])('%s %j is refused before anything happens: %s', async (target, parameters, problem) => {
    await expect(failpoint.prepare(injection(target, parameters), world())).rejects.toMatchObject({
      what: problem,
      exitCode: 2,
    });
    expect(existsSync(folder)).toBe(false);
  });
});

describe('coverage', () => {
  const project = () => ({ root: stateDir, stateDir, name: 'shop' });

  it('cannot be had of services that never ran with failpoints', async () => {
    await expect(readCoverage(project())).rejects.toMatchObject({ exitCode: 3 });
  });

  it('counts hits and acts, from nothing again when it is reset', async () => {
    const pass = createFailpoints('orders', folder);
    const found = async () => (await readCoverage(project())).filter(({ hits }) => hits > 0);
    await inject('orders', { at: 'S4', action: 'error' });
    await pass('S4').catch(() => undefined);
    await pass('S4');
    expect(await found()).toMatchObject([{ failpoint: 'orders.S4', hits: 2, acted: 1 }]);
    await resetCounts(folder);
    expect(await found()).toEqual([]);
    await pass('S4');
    expect(await found()).toMatchObject([{ failpoint: 'orders.S4', hits: 1, acted: 0 }]);
  });
});
