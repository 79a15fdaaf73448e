import { describe, expect, it } from 'vitest';
import { changesOfAction, changesOfOperation, changesOfUp } from './changes-of.ts';
import type { InstanceState } from './state.ts';

const instance = (name: string, more: Partial<InstanceState> = {}): InstanceState => ({
  name,
  service: name.replace(/-\d+$/, ''),
  kind: 'service',
  status: 'ready',
  version: '1.4.0',
  code: 'aaaaaaaa',
  ports: {},
  restarts: 0,
  ...more,
});

const running = {
  status: 'ready' as const,
  instances: [instance('orders-1'), instance('gateway-1')],
  replicas: {},
  direct: false,
  runtime: 'process' as const,
  instrumentation: 'manual' as const,
};
const nothing = { settings: [], applied: [], pointsOfNoReturn: [], replaced: new Set<string>() };

describe('an up', () => {
  it('that starts the platform is one change', () => {
    const stopped = { ...running, status: 'stopped' as const, instances: [] };
    expect(changesOfUp(stopped, running, nothing)).toEqual([
      { kind: 'start', target: 'platform', from: 'stopped', to: 'ready' },
    ]);
    expect(changesOfUp(stopped, stopped, nothing)).toEqual([]);
  });

  it('that finds everything as it should be is none', () => {
    expect(changesOfUp(running, running, nothing)).toEqual([]);
  });

  it('scales, and restarts the callers under another configuration', () => {
    const after = {
      ...running,
      replicas: { orders: 2 },
      instances: [...running.instances, instance('orders-2')],
    };
    expect(changesOfUp(running, after, { ...nothing, replaced: new Set(['gateway-1']) })).toEqual([
      { kind: 'scale', target: 'orders', from: '1', to: '2' },
      { kind: 'restart', target: 'gateway', from: 'ready', to: 'ready', reason: 'its configuration changed' },
    ]);
    expect(changesOfUp(after, { ...running, replicas: { orders: 1 } }, nothing)).toEqual([
      { kind: 'scale', target: 'orders', from: '2', to: '1' },
    ]);
  });

  it('deploys other code, with version and build before and after', () => {
    const after = {
      ...running,
      instances: [instance('orders-1', { version: '1.5.0', code: 'bbbbbbbb' }), instance('gateway-1')],
    };
    expect(changesOfUp(running, after, { ...nothing, replaced: new Set(['orders-1']) })).toEqual([
      { kind: 'deploy', target: 'orders', from: '1.4.0+aaaaaaaa', to: '1.5.0+bbbbbbbb' },
    ]);
  });

  it('deploys code that does not start, whose version is unknown then', () => {
    const { version: _, ...broken } = instance('orders-1', { status: 'failed', code: 'bbbbbbbb' });
    const after = { ...running, status: 'degraded' as const, instances: [broken, instance('gateway-1')] };
    expect(changesOfUp(running, after, { ...nothing, replaced: new Set(['orders-1']) })).toEqual([
      { kind: 'deploy', target: 'orders', from: '1.4.0+aaaaaaaa', to: 'bbbbbbbb' },
    ]);
  });

  it('changes settings, the wiring and the runtime, and applies migrations', () => {
    const after = { ...running, direct: true, runtime: 'docker' as const };
    const settings = [{ name: 'LOG_LEVEL', from: null, to: 'debug' }];
    const applied = ['migration orders/0007_refunds', 'roles of catalog'];
    expect(changesOfUp(running, after, { ...nothing, settings, applied })).toEqual([
      { kind: 'configuration', target: 'LOG_LEVEL', from: null, to: 'debug' },
      { kind: 'configuration', target: 'direct', from: 'false', to: 'true' },
      { kind: 'configuration', target: 'runtime', from: 'process', to: 'docker' },
      { kind: 'migration', target: 'orders', from: null, to: '0007_refunds' },
      { kind: 'configuration', target: 'roles of catalog', from: null, to: 'applied' },
    ]);
  });

  it('starts what was stopped or was not there, and stops what is not wanted any more', () => {
    const before = {
      ...running,
      instances: [instance('orders-1', { status: 'stopped' }), instance('gateway-1'), instance('jaeger')],
    };
    const after = { ...running, instances: [...running.instances, instance('payments-1')] };
    expect(changesOfUp(before, after, nothing)).toEqual([
      { kind: 'start', target: 'orders', from: 'stopped', to: 'ready' },
      { kind: 'stop', target: 'jaeger', from: 'ready', to: null },
      { kind: 'start', target: 'payments', from: null, to: 'ready' },
    ]);
  });
});

describe('a point of no return', () => {
  const givenUp = {
    kind: 'point-of-no-return' as const,
    target: 'orders',
    from: 'orders 0.3.0 (kept)',
    to: '0007_gone',
  };

  it('is a change beside the migration, and beside the start that applied it', () => {
    const applied = ['migration orders/0007_gone'];
    const migration = { kind: 'migration', target: 'orders', from: null, to: '0007_gone' };
    expect(changesOfUp(running, running, { ...nothing, applied, pointsOfNoReturn: [givenUp] })).toEqual([
      migration,
      givenUp,
    ]);
    const stopped = { ...running, status: 'stopped' as const, instances: [] };
    const facts = { ...nothing, pointsOfNoReturn: [givenUp] };
    expect(changesOfUp(stopped, running, facts)).toEqual([
      { kind: 'start', target: 'platform', from: 'stopped', to: 'ready' },
      givenUp,
    ]);
    // The start failed afterwards; the migration stays.
    expect(changesOfUp(stopped, stopped, facts)).toEqual([givenUp]);
  });
});

describe('an operation', () => {
  const seen = (state: 'active' | 'draining', via: { via?: 'standby' } = {}, orders = 1) => ({
    instances: [instance('orders-1', { upstream: { state, weight: 100 } })],
    edges: [{ name: 'orders-db', from: 'orders', to: 'postgres', listen: '', upstream: '', ...via }],
    replicas: { orders },
  });

  it.each([
    [{ kind: 'scale', replicas: { orders: 3 } }, seen('active', {}, 3), ['orders', '1', '3']],
    [{ kind: 'drain', instance: 'orders-1', undo: false }, seen('draining'), ['orders-1', 'active', 'draining']],
    [
      { kind: 'reroute', edge: 'orders-db', via: 'standby' },
      seen('active', { via: 'standby' }),
      ['orders-db', 'primary', 'standby'],
    ],
  ] as const)('%j is one change, and none where it had no effect', (operation, after, [target, from, to]) => {
    expect(changesOfOperation(operation, seen('active'), after)).toEqual([{ kind: operation.kind, target, from, to }]);
    expect(changesOfOperation(operation, after, after)).toEqual([]);
  });
});

describe('an action on a service', () => {
  const two = [instance('orders-1'), instance('orders-2', { status: 'unready' }), instance('gateway-1')];

  it('is a change of its instances only', () => {
    const after = [instance('orders-1'), instance('orders-2'), instance('gateway-1', { status: 'failed' })];
    expect(changesOfAction('restart', 'orders', two, after)).toEqual([
      { kind: 'restart', target: 'orders', from: 'ready, unready', to: 'ready' },
    ]);
    expect(changesOfAction('restart', 'orders-2', two, after)).toEqual([
      { kind: 'restart', target: 'orders-2', from: 'unready', to: 'ready' },
    ]);
  });

  it('is a deploy too where the code was rebuilt', () => {
    const after = two.map((one) => ({ ...one, status: 'ready' as const, code: 'bbbbbbbb' }));
    expect(changesOfAction('restart', 'gateway', two, after)).toEqual([
      { kind: 'restart', target: 'gateway', from: 'ready', to: 'ready' },
      { kind: 'deploy', target: 'gateway', from: '1.4.0+aaaaaaaa', to: '1.4.0+bbbbbbbb' },
    ]);
  });

  it('is none where it finds it done, or finds nothing of that name', () => {
    expect(changesOfAction('start', 'orders-1', two, two)).toEqual([]);
    expect(changesOfAction('restart', 'nothing', two, two)).toEqual([]);
  });
});
