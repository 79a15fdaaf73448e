import { expect, it } from 'vitest';
import type { PlatformState } from '../../platform/state.ts';
import type { FoundExperiment } from '../format/catalog.ts';
import { refuseUnmet } from './needs.ts';

function anExperiment(needs: object): FoundExperiment {
  const platform = { failpoints: false, replicas: {}, env: {}, 'seeded-bugs': [], alerts: false, ...needs };
  return { file: 'E08.yaml', experiment: { id: 'E08', platform } } as unknown as FoundExperiment;
}

function aPlatform(state: object = {}): PlatformState {
  return {
    instances: [{ service: 'orders' }],
    failpoints: false,
    seededBugs: [],
    ...state,
  } as unknown as PlatformState;
}

it('a platform that has what the experiments need is not refused', () => {
  expect(() => refuseUnmet([anExperiment({ replicas: { orders: 1 } })], aPlatform())).not.toThrow();
});

it.each([
  ['services with failpoints', { failpoints: true }],
  ['alerts ("shopctl up --with alerts" adds them)', { alerts: true }],
  ['2 replicas of orders', { replicas: { orders: 2 } }],
  ['LOG_LEVEL=debug', { env: { LOG_LEVEL: 'debug' } }],
  ['the seeded bug no-inbox', { 'seeded-bugs': ['no-inbox'] }],
])('a platform without %s is refused, before anything happens', (missing, needs) => {
  expect(() => refuseUnmet([anExperiment(needs)], aPlatform())).toThrow(
    expect.objectContaining({
      code: 'experiment_unavailable',
      why: `E08 needs ${missing}`,
      next: expect.stringContaining('--fresh'),
    }),
  );
});

it('a platform that runs Prometheus has alerts', () => {
  const platform = aPlatform({ instances: [{ service: 'prometheus' }] });
  expect(() => refuseUnmet([anExperiment({ alerts: true })], platform)).not.toThrow();
});

it('a platform with seeded bugs is refused with the option that lets experiments look for them', () => {
  const platform = aPlatform({ seededBugs: ['no-inbox', 'charged-twice'] });
  expect(() => refuseUnmet([anExperiment({})], platform)).toThrow(
    expect.objectContaining({
      why: 'E08 needs services without the seeded bug no-inbox, services without the seeded bug charged-twice',
      next: expect.stringContaining('--seed-bug no-inbox --seed-bug charged-twice'),
    }),
  );
});
