import { describe, expect, it } from 'vitest';
import { createStyle } from '../../output/style.ts';
import type { InstanceState, PlatformState } from '../../platform/state.ts';
import { serviceNames } from '../../topology/services.ts';
import { describeStatus } from './run-status.ts';

const MINUTE = 60_000;
const view = { style: createStyle({ enabled: false }), columns: 80 };

/** With the widest of all that it shows. */
function anInstance(name: string, change: Partial<InstanceState> = {}): InstanceState {
  return {
    name,
    service: name.replace(/-\d+$/, ''),
    kind: 'service',
    status: 'starting',
    process: { pid: 4_194_304, startTime: '1' },
    version: '0.2.0',
    track: 'stable',
    ports: { main: 32_767 },
    restarts: 120,
    startedAt: new Date(Date.now() - 23 * 60 * MINUTE - 59 * MINUTE).toISOString(),
    cpuPercent: 187.5,
    rssBytes: 1_000 * 1024 ** 2,
    ...change,
  };
}

function aState(instances: readonly InstanceState[]): PlatformState {
  const state = { project: 'shop', status: 'ready', gatewayUrl: 'http://127.0.0.1:8080', edges: [], instances };
  return state as unknown as PlatformState;
}

const services = serviceNames.map((name) => anInstance(`${name}-1`));
const component = { kind: 'component', provider: 'release', detail: `2.12.0 in ${'a/long/path/'.repeat(9)}` } as const;
const components = ['postgres', 'rabbitmq', 'toxiproxy'].map((name) => anInstance(name, component));

describe('status', () => {
  it('fits a terminal of 80 columns, whatever its figures', () => {
    const lines = describeStatus(aState([...services, ...components]), view).split('\n');
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });

  it('says that a drill is on, and nothing else of it', () => {
    const drill = { id: '1', startedAt: new Date(Date.now() - 4 * MINUTE).toISOString(), limitMs: 15 * MINUTE };
    const lines = describeStatus({ ...aState(services), drill }, view).split('\n');
    expect(lines).toContainEqual(expect.stringMatching(/^a drill is on: 4:0\d of 15:00 \("shopctl drill status"\)$/));
    expect(lines.filter((line) => /drill/.test(line))).toHaveLength(1);
  });

  it('has one line for the version that all services have', () => {
    expect(describeStatus(aState(services), view)).toContain('version of the services: 0.2.0\n');
  });

  it('has the version of each service where they differ', () => {
    const canary = anInstance('orders-2', { version: '0.3.0', track: 'canary' });
    const lines = describeStatus(aState([...services, canary]), view).split('\n');
    expect(lines).toContain('orders-1    0.2.0');
    expect(lines).toContain('orders-2    0.3.0 canary');
  });
});
