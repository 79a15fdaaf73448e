import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEventLog } from './events.ts';
import { createPlatformGate, POINT_OF_NO_RETURN, pointOfNoReturn, releasesInUse } from './platform-gate.ts';
import type { InstanceState } from './state.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'shop-gate-'));
  await mkdir(join(root, 'services/orders'), { recursive: true });
  await writeFile(join(root, 'services/orders/package.json'), '{ "version": "0.4.0" }');
  await mkdir(join(root, 'migrations/orders'), { recursive: true });
  await writeFile(join(root, 'migrations/orders/0007_gone.sql'), '-- requires: orders >= 0.4.0\nDROP TABLE gone;\n');
});
afterEach(() => rm(root, { recursive: true }));

const instance = (name: string, version: string | undefined, more: Partial<InstanceState> = {}): InstanceState => ({
  name,
  service: name.replace(/-\d+$/, ''),
  kind: 'service',
  status: 'ready',
  ports: {},
  restarts: 0,
  ...(version !== undefined && { version }),
  ...more,
});
const kept = (version: string) => ({ version, folder: `dist/releases/orders/${version}` });

const pending = [{ name: '0007_gone', requires: { service: 'orders', atLeast: '0.4.0' } }];
const change = { service: 'orders', isNew: false, pending, inEffect: [] };

it('what may run on a database is what runs, what is built, and what can be rolled back to', async () => {
  const instances = [
    instance('orders-1', '0.4.0'),
    instance('orders-2', undefined, { status: 'backoff' }),
    instance('orders-3', '0.1.0', { status: 'stopped' }),
    instance('stock-1', '0.1.0'),
  ];
  expect(await releasesInUse('orders', { root, instances, kept: [kept('0.3.0')] })).toEqual([
    { service: 'orders', use: 'running', where: 'orders-1', version: '0.4.0' },
    { service: 'orders', use: 'running', where: 'orders-2' },
    { service: 'orders', use: 'built', where: 'services/orders', version: '0.4.0' },
    { service: 'orders', use: 'kept', where: 'dist/releases/orders/0.3.0', version: '0.3.0' },
  ]);
});

describe('a contract migration', () => {
  let keptReleases: readonly ReturnType<typeof kept>[];
  beforeEach(() => {
    keptReleases = [];
  });
  const gateOf = (...instances: InstanceState[]) => {
    const events = createEventLog();
    const gate = createPlatformGate({
      root,
      events,
      instances: () => instances,
      keptReleases: async () => keptReleases,
    });
    return { gate, events };
  };

  it('passes where everything is new enough', async () => {
    expect(await gateOf(instance('orders-1', '0.4.0')).gate.pass(change)).toEqual([]);
  });

  it('is refused while an older instance runs, also at a point of no return', async () => {
    const { gate } = gateOf(instance('orders-1', '0.3.0'), instance('orders-2', '0.4.0'));
    const refusal = {
      code: 'migration_refused',
      what: 'the migration orders/0007_gone is refused',
      why: 'it requires orders >= 0.4.0, and orders 0.3.0 (orders-1) runs',
      next: expect.stringContaining('first run a release that does without'),
    };
    await expect(gate.pass(change)).rejects.toMatchObject(refusal);
    await gate.acceptPointsOfNoReturn(true);
    await expect(gate.pass(change)).rejects.toMatchObject(refusal);
  });

  it('is refused while an older release is kept, until the way back is given up', async () => {
    keptReleases = [kept('0.3.0')];
    const { gate, events } = gateOf(instance('orders-1', '0.4.0'));
    await expect(gate.pass(change)).rejects.toMatchObject({
      code: 'migration_refused',
      why: 'it requires orders >= 0.4.0, and orders 0.3.0 (dist/releases/orders/0.3.0) is kept and can come back',
      next: expect.stringContaining('--point-of-no-return'),
    });
    await gate.acceptPointsOfNoReturn(true);
    const points = await gate.pass(change);
    expect(points).toEqual([{ name: '0007_gone', givenUp: ['orders 0.3.0 (dist/releases/orders/0.3.0)'] }]);
    gate.passed({ service: 'orders', inEffect: pending, pointsOfNoReturn: points });
    const [event] = events.recent();
    expect(event).toMatchObject({ type: POINT_OF_NO_RETURN, subject: 'orders' });
    expect(pointOfNoReturn('orders', event?.message ?? '')).toEqual({
      kind: 'point-of-no-return',
      target: 'orders',
      from: 'orders 0.3.0 (dist/releases/orders/0.3.0)',
      to: '0007_gone',
    });
    await gate.acceptPointsOfNoReturn(false);
    await expect(gate.pass(change)).rejects.toMatchObject({ code: 'migration_refused' });
  });

  it('that came after the command is not accepted with it', async () => {
    keptReleases = [kept('0.3.0')];
    const { gate } = gateOf();
    await gate.acceptPointsOfNoReturn(true);
    const later = [{ name: '0008_later', requires: { service: 'orders', atLeast: '0.4.0' } }];
    await expect(gate.pass({ ...change, pending: later })).rejects.toMatchObject({ code: 'migration_refused' });
  });

  it('is applied to a new database, which no release has used', async () => {
    keptReleases = [kept('0.3.0')];
    expect(await gateOf().gate.pass({ ...change, isNew: true })).toEqual([]);
  });

  it('is refused where the code here would be too old', async () => {
    await writeFile(join(root, 'services/orders/package.json'), '{ "version": "0.3.0" }');
    await expect(gateOf().gate.pass({ ...change, isNew: true })).rejects.toMatchObject({
      code: 'migration_refused',
      why: 'it requires orders >= 0.4.0, and orders 0.3.0 (services/orders) is what the next start runs',
    });
  });

  describe('that was applied', () => {
    const after = { service: 'orders', isNew: false, pending: [], inEffect: pending };
    const refusal = {
      code: 'release_too_old',
      what: 'orders 0.3.0 (services/orders) cannot run on the database orders',
      why: expect.stringContaining('orders/0007_gone was applied, and requires orders >= 0.4.0'),
    };
    const checkOutOlder = () => writeFile(join(root, 'services/orders/package.json'), '{ "version": "0.3.0" }');

    it('refuses the start of an older release', async () => {
      await checkOutOlder();
      await expect(gateOf().gate.pass(after)).rejects.toMatchObject(refusal);
    });

    it('lets what runs go on where PostgreSQL started again, and refuses a command', async () => {
      await checkOutOlder();
      const { gate } = gateOf(instance('orders-1', '0.4.0'));
      expect(await gate.pass(after)).toEqual([]);
      await expect(gate.pass({ ...after, isAsked: true })).rejects.toMatchObject(refusal);
    });

    it('refuses a release that is to be started, of the clone or of elsewhere, without a look at the database', async () => {
      const { gate } = gateOf();
      const older = { service: 'orders', version: '0.3.0', where: 'dist/releases/orders/0.3.0' };
      await gate.admit(['orders', older]);
      gate.passed({ service: 'orders', inEffect: pending, pointsOfNoReturn: [] });
      await gate.admit(['orders', 'catalog', 'gateway']);
      await expect(gate.admit([older])).rejects.toMatchObject({
        code: 'release_too_old',
        what: 'orders 0.3.0 (dist/releases/orders/0.3.0) cannot run on the database orders',
      });
      await checkOutOlder();
      await expect(gate.admit(['catalog', 'orders'])).rejects.toMatchObject(refusal);
    });
  });
});
