/*
 * Goal: what the command line arms is what the services do. Method: the fault's own files, passed by the kit's failpoints.
 */
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFailpoints, ForcedResponseError } from '@shop/kit/failpoints.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { armedFailpoints, failpointFolder, resetCounts } from '../../platform/failpoint-files.ts';
import { readCoverage } from '../coverage.ts';
import type { PlatformAccess } from '../platform-access.ts';
import { failpoint } from './failpoint.ts';

let stateDir: string;
let folder: string;
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'shop-failpoint-fault-'));
  folder = failpointFolder({ stateDir });
});
afterEach(() => rmSync(stateDir, { recursive: true }));

const platform = () => ({ failpointDir: folder }) as PlatformAccess;
const injection = (target: string, parameters: object) => ({ id: 'abc123', target, parameters });

async function inject(target: string, parameters: object) {
  const one = injection(target, parameters);
  const undo = await failpoint.prepare(one, platform());
  await failpoint.inject(one, undo, platform());
  return { undo, witness: () => failpoint.witness(one, undo, platform()) };
}

describe('an injected failpoint', () => {
  it('waits for its hit, is seen by its act, and is gone', async () => {
    const pass = createFailpoints('orders', folder);
    const { undo, witness } = await inject('orders', { at: 'stock-reserved:unsaved', action: 'error' });
    expect(await armedFailpoints(folder)).toEqual(['orders.stock-reserved:unsaved']);
    expect((await witness()).verdict).toBe('pending');
    await expect(pass('stock-reserved:unsaved')).rejects.toThrow('failpoint stock-reserved:unsaved');
    expect(await witness()).toEqual({ verdict: 'observed', evidence: 'acted 1 times' });
    await expect(failpoint.verify(undo, platform())).resolves.toBe('not armed any more');
  });

  it('that acts on every third hit is seen from the third on, and stays until it is reverted', async () => {
    const pass = createFailpoints('payments', folder);
    const { undo, witness } = await inject('payments', {
      at: 'charge-requested:unrecorded',
      action: 'respond',
      status: 503,
      every: 3,
    });
    await pass('charge-requested:unrecorded');
    await pass('charge-requested:unrecorded');
    expect((await witness()).verdict).toBe('pending');
    await expect(pass('charge-requested:unrecorded')).rejects.toMatchObject(
      new ForcedResponseError('charge-requested:unrecorded', 503),
    );
    expect(await witness()).toEqual({ verdict: 'observed', evidence: 'acted 1 times, armed still' });
    await expect(failpoint.verify(undo, platform())).rejects.toThrow('is still there');
    await failpoint.undo(undo, platform());
    await failpoint.verify(undo, platform());
    await pass('charge-requested:unrecorded');
  });

  it('removed before it acted is not observed', async () => {
    const { undo, witness } = await inject('orders', { at: 'stock-reserved:unsaved', action: 'kill' });
    await failpoint.undo(undo, platform());
    expect((await witness()).verdict).toBe('not_observed');
  });

  it('is armed by a file for this user only', async () => {
    await inject('orders', { at: 'stock-reserved:unsaved', action: 'kill' });
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'orders.stock-reserved:unsaved')).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['orders', { at: 'order-lost:saved', action: 'kill' }, 'orders has no failpoint order-lost:saved'],
    [
      'orders',
      { at: 'stock-reserved:unsaved', action: 'drop-reply' },
      'orders.stock-reserved:unsaved has no response to lose',
    ],
    [
      'stock',
      { at: 'reservation-requested:unrecorded', action: 'respond', status: 503 },
      'stock.reservation-requested:unrecorded cannot respond to its caller',
    ],
    ['payments', { at: 'charge-requested:unrecorded', action: 'respond' }, 'the status to respond with is missing'],
    ['payments', { at: 'charge-requested:unrecorded', action: 'error', status: 503 }, 'error has no status'],
    ['orders', { at: 'stock-reserved:unsaved', action: 'delay' }, 'the time to wait is missing'],
    ['orders', { at: 'stock-reserved:unsaved', action: 'error', delay: 5 }, 'error has no delay'],
  ])('%s %j is refused before anything happens: %s', async (target, parameters, problem) => {
    await expect(failpoint.prepare(injection(target, parameters), platform())).rejects.toMatchObject({
      what: problem,
      exitCode: 2,
    });
    expect(existsSync(folder)).toBe(false);
  });
});

describe('coverage', () => {
  const project = () => ({ root: stateDir, stateDir, name: 'shop' });

  it('is not available for services that never ran with failpoints', async () => {
    await expect(readCoverage(project())).rejects.toMatchObject({ code: 'failpoints_disabled' });
  });

  it('counts hits and acts, from nothing again when it is reset', async () => {
    const pass = createFailpoints('orders', folder);
    const found = async () => (await readCoverage(project())).filter(({ hits }) => hits > 0);
    await inject('orders', { at: 'stock-reserved:unsaved', action: 'error' });
    await pass('stock-reserved:unsaved').catch(() => undefined);
    await pass('stock-reserved:unsaved');
    expect(await found()).toMatchObject([{ failpoint: 'orders.stock-reserved:unsaved', hits: 2, acted: 1 }]);
    await resetCounts(folder);
    expect(await found()).toEqual([]);
    await pass('stock-reserved:unsaved');
    expect(await found()).toMatchObject([{ failpoint: 'orders.stock-reserved:unsaved', hits: 1, acted: 0 }]);
  });
});
