// Goal: what compose.yaml starts is as closed as what shopctl starts.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_DRAIN_TIMEOUT_MS } from '@shop/kit/config.ts';
import { offDefinition, parseFlagFile } from '@shop/kit/flag-file.ts';
import { flagNames, flags } from '@shop/kit/flag-names.ts';
import { TELEMETRY_SHUTDOWN_MS } from '@shop/kit/telemetry/shutdown.ts';
import { describe, expect, it } from 'vitest';
import { cloneRoot } from '../platform/project.ts';
import { dependenciesOf, edges, serviceNames } from '../topology/services.ts';
import { composeFile } from './compose.ts';
import { renderCompose } from './render.ts';

interface Service {
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, unknown>>;
  readonly read_only?: boolean;
  readonly stop_grace_period?: string;
  readonly volumes?: readonly string[];
  readonly develop?: { readonly watch: readonly { readonly action: string; readonly path: string }[] };
}
const services = composeFile().services as Readonly<Record<string, Service>>;

describe.each(serviceNames)('%s', (name) => {
  it('gets the addresses of its edges, and of no other', () => {
    const reported = Object.keys(services[name]?.environment ?? {}).filter((variable) =>
      /URLS?$|ADDRESSES$/.test(variable),
    );
    expect(new Set(reported)).toEqual(
      new Set(edges.filter(({ from }) => from === name).map(({ variable }) => variable)),
    );
  });

  it('has the time to drain and to send its last telemetry when it is stopped', () => {
    const graceMs = 1_000 * Number.parseInt(services[name]?.stop_grace_period ?? '', 10);
    expect(graceMs).toBeGreaterThan(DEFAULT_DRAIN_TIMEOUT_MS + TELEMETRY_SHUTDOWN_MS);
  });

  it('waits for its tables and its neighbours, and cannot write into its image', () => {
    const waits = dependenciesOf(name).map((one) => (one === 'postgres' ? `${name}-migrations` : one));
    expect(Object.keys(services[name]?.depends_on ?? {}).sort()).toEqual(waits.sort());
    expect(services[name]?.read_only).toBe(true);
  });
});

it.each(serviceNames)('%s is built again by "docker compose watch" when a source of its image is saved', (name) => {
  const dockerfile = readFileSync(join(cloneRoot(), 'services/Dockerfile'), 'utf8').replaceAll('$SERVICE', name);
  const { watch = [] } = services[name]?.develop ?? {};
  for (const { action, path } of watch) {
    expect(action).toBe('rebuild');
    const folder = path.replace('./', '');
    expect(dockerfile).toContain(`COPY ${folder} ${folder}\n`);
    expect(existsSync(join(cloneRoot(), path))).toBe(true);
  }
  expect(watch.map(({ path }) => path)).toEqual(['./kit', './proto', `./services/${name}`]);
});

it('gives flags to the services that ask for them, from a folder where each is off', () => {
  const asking = Object.entries(services).filter(([, { environment }]) => environment?.FLAGS_FILE !== undefined);
  expect(new Set(asking.map(([name]) => name))).toEqual(new Set(Object.values(flags).map(({ service }) => service)));
  for (const [name, { environment, volumes = [] }] of asking) {
    const [, folder = '', mount] = /^\$\{SHOP_FLAGS:-(.+)\}:(.+):ro$/.exec(volumes.join()) ?? [];
    expect(join(String(mount), 'flags.json'), name).toBe(environment?.FLAGS_FILE);
    const text = readFileSync(join(cloneRoot(), folder, 'flags.json'), 'utf8');
    expect(parseFlagFile(text).flags).toEqual(Object.fromEntries(flagNames.map((flag) => [flag, offDefinition])));
  }
});

it('only the gateway and Jaeger can be reached from outside, over loopback', () => {
  const open = Object.entries(services).flatMap(([name, { ports = [] }]) =>
    ports.map((port) => `${name} ${port.replace(/\{(\w+):-\d+\}/, '$1')}`),
  );
  expect(open).toEqual(['jaeger 127.0.0.1:$JAEGER_PORT:16686', 'gateway 127.0.0.1:$SHOP_PORT:8080']);
});

it('holds no password: the only one comes from the environment', () => {
  const passwords = [...renderCompose().matchAll(/(?:PASS(?:WORD)?: |PASSWORD '|:\/\/\w+:)(\S{8})/g)].map(
    ([, start]) => start,
  );
  expect(passwords.length).toBeGreaterThan(15);
  expect(new Set(passwords)).toEqual(new Set([`\${SHOP_P`]));
});
