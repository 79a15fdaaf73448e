// Goal: faults that change how an instance starts leave each other's conditions alone. Method: the faults act on a Platform
// with one service, whose process is this test; what its starts are given is written down.
import { describe, expect, it } from 'vitest';
import { createEventLog } from '../../platform/events.ts';
import type { Planner } from '../../platform/plan.ts';
import { Platform } from '../../platform/platform.ts';
import type { PlatformState } from '../../platform/state.ts';
import type { StartConditions } from '../../platform/unit.ts';
import { findFault } from '../catalog.ts';
import { faketimeEnvironment } from '../libfaketime.ts';
import type { PlatformAccess } from '../platform-access.ts';

const LIBRARY = '/lib/libfaketime.so';
const HOUR_MS = 3_600_000;
const DELAY_MS = 100;
const wrongClock = { env: faketimeEnvironment(LIBRARY, HOUR_MS) };

/** A platform with `payments-1`, and under which conditions it has been started. */
async function aPlatform() {
  const starts: StartConditions[] = [];
  const unit = {
    name: 'payments-1',
    service: 'payments',
    kind: 'service',
    dependsOn: [],
    waitsFor: [],
    ports: { main: 1 },
    logFile: '/dev/null',
    fingerprint: '1',
    async start(conditions: StartConditions) {
      // Without what is undefined, as a process sees it.
      starts.push(JSON.parse(JSON.stringify(conditions)));
      const ended = Promise.withResolvers<string>();
      return { ended: ended.promise, stop: async () => ended.resolve('exit code 0') };
    },
    probe: async () => {},
  } as const;
  const planner: Planner = {
    serviceNames: ['payments'],
    plan: async ({ direct }) => ({
      units: [unit],
      edges: [],
      routes: [],
      gatewayUrl: '',
      telemetryUrl: '',
      direct,
      runtime: 'process',
      instrumentation: 'manual',
      warnings: [],
    }),
    ports: () => ({}),
    close: async () => {},
  };
  const platform = new Platform({
    planner,
    events: createEventLog(),
    upstreams: { write: async () => false },
    overrides: { initial: { replicas: {}, draining: [], onStandby: [], releases: {} }, save: async () => {} },
    onChange: () => {},
  });
  const up = { services: [], replicas: {}, providers: {}, waitTimeoutMs: 5_000 };
  await platform.up(up, new AbortController().signal);
  const access: Partial<PlatformAccess> = {
    isLive: true,
    state: () => ({ instances: platform.snapshots() }) as unknown as PlatformState,
    libfaketime: async () => LIBRARY,
    act: (name, action) => platform.act(name, action),
    relaunch: (name) => platform.relaunch(name),
    changeConditions: (name, change) => platform.changeConditions(name, change),
  };
  return { platform, access: access as PlatformAccess, starts };
}

const faults = {
  clock: { fault: findFault('clock'), parameters: { offset: HOUR_MS } },
  'slow-start': { fault: findFault('slow-start'), parameters: { delay: DELAY_MS } },
};
const victims = { target: 'payments', victims: [] };

describe('clock and slow-start on one service', () => {
  it.each([
    ['clock', 'slow-start', { delayMs: DELAY_MS }],
    ['slow-start', 'clock', wrongClock],
  ] as const)('%s that began first and ends first leaves %s as it is', async (first, second, left) => {
    const { platform, access, starts } = await aPlatform();
    for (const name of [first, second]) {
      const { fault, parameters } = faults[name];
      await fault.inject({ id: name, target: 'payments', parameters }, victims, access);
    }
    await platform.act('payments', 'restart');
    expect(starts.at(-1)).toEqual({ ...wrongClock, delayMs: DELAY_MS });
    await faults[first].fault.undo(victims, access);
    await platform.act('payments', 'restart');
    expect(starts.at(-1)).toEqual(left);
    await faults[second].fault.undo(victims, access);
    await platform.act('payments', 'restart');
    expect(starts.at(-1)).toEqual({});
    await platform.down();
  });
});
