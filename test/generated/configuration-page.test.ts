import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { edgeFields, edges, edgeVariable } from '@shop/kit/edges.ts';
import { harnessVariables } from '@shop/kit/harness.ts';
import { UpstreamSchema } from '@shop/kit/upstreams.ts';
import { describe, expect, it } from 'vitest';
import { configKeys } from '../../cli/src/platform/project.ts';
import { serviceConfigs } from '../support/service-configs.ts';
import { expectGeneratedBlocks } from './expect-generated.ts';

/** One variable of a schema. */
interface Setting {
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly string[];
  readonly description?: string;
}

const root = join(import.meta.dirname, '../..');
const services = Object.entries(serviceConfigs).map(([service, { variables }]) => ({ service, ...variables }));
const names = [...new Set(services.flatMap(({ properties }) => Object.keys(properties)))];

/** The same setting in each service that has it. */
function settingsOf(name: string): readonly { service: string; setting: Setting; isRequired: boolean }[] {
  return services.flatMap(({ service, properties, required = [] }) => {
    const setting = properties[name] as Setting | undefined;
    return setting === undefined ? [] : [{ service, setting, isRequired: required.includes(name) }];
  });
}

function valuesOf({ minimum, maximum, enum: choices }: Setting): string {
  if (choices !== undefined) return choices.map((choice) => `\`${choice}\``).join(', ');
  return minimum === undefined ? 'text' : `${minimum} to ${maximum}`;
}

/** `4 (orders: 8)`: the default that most services have, then those of the others. */
function defaultOf(name: string): string {
  const settings = settingsOf(name);
  const defaults = settings.map(({ setting }) => setting.default);
  const [usual] = defaults.toSorted(
    (a, b) => defaults.filter((one) => one === b).length - defaults.filter((one) => one === a).length,
  );
  if (usual === undefined) return settings.some(({ isRequired }) => isRequired) ? '-' : 'optional';
  const others = settings.filter(({ setting }) => setting.default !== usual);
  return `${usual}${others.map(({ service, setting }) => ` (${service}: ${setting.default})`).join('')}`;
}

function serviceRow(name: string): string {
  const settings = settingsOf(name);
  const all = settings.length === services.length;
  const who = all ? 'all' : settings.map(({ service }) => service).join(', ');
  const setting: Setting = settings[0]?.setting ?? {};
  return `| \`${name}\` | ${who} | ${defaultOf(name)} | ${valuesOf(setting)} | ${setting.description} |`;
}

const fields = Object.keys(edgeFields) as (keyof typeof edgeFields)[];
const edgeNames = Object.keys(edges) as (keyof typeof edges)[];
const limitOf = (field: string) => edgeVariable('orders-stock', field).replace('EDGE_ORDERS_STOCK_', '');

describe('docs/configuration.md', () => {
  it.each(names)('%s has a meaning', (name) => {
    for (const { setting, service } of settingsOf(name)) expect(setting.description, service).toMatch(/\w/);
  });

  it('names every SHOPCTL_ variable that the code reads or sets, and no other', () => {
    const code = globSync(['{cli,kit,services}/**/src/**/*.ts', 'scripts/*', 'cli/bin/*'], { cwd: root }).filter(
      (path) => !/\.test\.ts$|\/testing\//.test(path),
    );
    const namedIn = (path: string) => readFileSync(join(root, path), 'utf8').match(/\bSHOPCTL_[A-Z_]*[A-Z]\b/g) ?? [];
    expect([...new Set(namedIn('docs/configuration.md'))].toSorted()).toEqual(
      [...new Set(code.flatMap(namedIn))].toSorted(),
    );
  });

  it('lists the configuration file, every setting of a service and every limit of an edge', () =>
    expectGeneratedBlocks('docs/configuration.md', {
      file: [
        '| key | type | default | overridden by | meaning |',
        '| --- | --- | --- | --- | --- |',
        ...Object.entries(configKeys).map(([key, { type, default: value, variable, meaning }]) => {
          const override = variable === undefined ? '-' : `\`${variable}\``;
          return `| \`${key}\` | ${type} | \`${value}\` | ${override} | ${meaning} |`;
        }),
      ].join('\n'),
      services: [
        '| variable | services | default | values | meaning |',
        '| --- | --- | --- | --- | --- |',
        ...names.map(serviceRow),
        ...Object.entries(harnessVariables().properties as Readonly<Record<string, Setting>>).map(
          ([name, { description }]) => `| \`${name}\` | all, in a harness build | optional | text | ${description} |`,
        ),
      ].join('\n'),
      upstreams: [
        '| field | default | values | meaning |',
        '| --- | --- | --- | --- |',
        ...Object.entries(UpstreamSchema.properties as Readonly<Record<string, Setting>>).map(
          ([name, field]) => `| \`${name}\` | ${field.default ?? '-'} | ${valuesOf(field)} | ${field.description} |`,
        ),
      ].join('\n'),
      edges: [
        `| limit | ${edgeNames.join(' | ')} | meaning |`,
        `| --- | ${edgeNames.map(() => '---').join(' | ')} | --- |`,
        ...fields.map(
          (field) =>
            `| \`${limitOf(field)}\` | ${edgeNames.map((edge) => edges[edge][field]).join(' | ')} | ${edgeFields[field]} |`,
        ),
      ].join('\n'),
    }));
});
