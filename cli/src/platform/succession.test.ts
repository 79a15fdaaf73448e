import { expect, it } from 'vitest';
import type { InstanceStatus } from './state.ts';
import { splitSuccessions } from './succession.ts';
import type { Unit } from './unit.ts';

function aUnit(name: string, beside?: string): Unit {
  return {
    name,
    service: name,
    kind: 'service',
    dependsOn: [],
    waitsFor: [],
    ports: {},
    logFile: '/dev/null',
    fingerprint: '',
    ...(beside !== undefined && { beside }),
    start: () => Promise.reject(new Error('not needed')),
    probe: () => Promise.reject(new Error('not needed')),
  };
}

const anInstance = (status: InstanceStatus, unit: Unit) => ({ status, unit });
const planned = (...units: readonly Unit[]) => new Map(units.map((unit) => [unit.name, unit]));

it.each([
  ['goes on', 'that is ready', 'ready', 'process', 'process'],
  ['goes on', 'that runs and is not ready', 'unready', 'process', 'process'],
  ['ends first', 'that starts', 'starting', 'process', 'process'],
  ['ends first', 'whose process has ended', 'backoff', 'process', 'process'],
  ['ends first', 'whose successor runs as something else', 'ready', 'process', 'docker'],
  ['ends first', 'whose successor needs its port', 'ready', 'process', undefined],
  ['ends first', 'that has the port of its successor', 'ready', undefined, 'process'],
] as const)('%s: an instance %s', (expected, _, status, before, after) => {
  const instance = anInstance(status, aUnit('gateway-1', before));
  const unit = aUnit('gateway-1', after);
  expect(splitSuccessions([instance], planned(unit))).toEqual(
    expected === 'goes on'
      ? { successions: [{ instance, unit }], others: [] }
      : { successions: [], others: [instance] },
  );
});

it('an instance that is not planned any more ends first', () => {
  const instance = anInstance('ready', aUnit('gateway-2', 'process'));
  expect(splitSuccessions([instance], planned())).toEqual({ successions: [], others: [instance] });
});
