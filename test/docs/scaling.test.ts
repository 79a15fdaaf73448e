import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type DatabaseName, databaseNames } from '../../cli/src/topology/databases.ts';
import { serviceNames } from '../../cli/src/topology/services.ts';
import { serviceConfigs } from '../support/service-configs.ts';

/** What a service cannot do without, as examples. */
const environment = {
  PORT: '8080',
  HEALTH_PORT: '8081',
  CATALOG_URLS: 'http://catalog:8080',
  PAYMENTS_URLS: 'http://payments:8080',
  STOCK_ADDRESSES: 'stock:9090',
  DATABASE_URL: 'postgres://role:secret@database.example/name',
  BROKER_URL: 'amqp://user:secret@broker.example/shop',
};
/** Of a service as its configuration has it by default. */
function poolSizeOf(service: string): unknown {
  const { loadConfig } = serviceConfigs[service as DatabaseName];
  const config = loadConfig(environment) as { DATABASE_POOL_SIZE?: number; database?: { poolSize: number } };
  return config.DATABASE_POOL_SIZE ?? config.database?.poolSize;
}
const root = new URL('../../', import.meta.url).pathname;
const page = readFileSync(`${root}docs/scaling.md`, 'utf8');
const read = (file: string) => parse(readFileSync(`${root}deploy/${file}`, 'utf8'));

/** CPU ms of one order by program, from the measured table. */
const measured = new Map(
  [...page.matchAll(/^\| ([a-z ]+) \| ([\d.]+) \| [\d.]+ \|$/gm)].map(([, name, ms]) => [name, Number(ms)]),
);

/** `| gateway | 0.5 | 300 / 1.97 = 152 | 10 | 1,520/s |` */
const pods = [
  ...page.matchAll(
    /^\| ([a-z]+)(?: \(KEDA\))? \| ([\d.]+) \| .*?([\d,]+) \/ ([\d.]+) = (\d+).* \| (\d+) \| ([\d,]+)\/s \|$/gm,
  ),
];
const number = (text = '') => Number(text.replaceAll(',', ''));

/** Rounded to three digits, as the page does. */
const rounded = (value: number) => Number(value.toPrecision(3));

describe('docs/scaling.md', () => {
  it('calculates pods with the measured CPU time (after a new measurement: correct the table and its text)', () => {
    expect(pods.map(([, service]) => service).toSorted()).toEqual([...serviceNames].toSorted());
    for (const [, service, , msOfCore, ms, rate, most, all] of pods) {
      expect(Math.abs(number(ms) / (measured.get(service) ?? 0) - 1), service).toBeLessThan(0.1);
      expect(rounded(number(msOfCore) / number(ms)), service).toBe(number(rate));
      expect(rounded((number(msOfCore) / number(ms)) * number(most)), service).toBe(number(all));
    }
  });

  it('calculates connections with the pools of the services and the rollout of the manifests', () => {
    const rows = [...page.matchAll(/^\| ([a-z]+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$/gm)];
    const most = new Map(pods.map(([, service = '', , , , , count]) => [service, number(count)]));
    const settings = read('components/pod-defaults/service-pod.yaml').spec.strategy.rollingUpdate;
    const surge = Number.parseInt(settings.maxSurge, 10) / 100;
    expect(rows.map(([, service]) => service).toSorted()).toEqual([...databaseNames].toSorted());
    for (const [, service = '', all, rolling, pool, connections] of rows) {
      expect([number(all), number(pool)], service).toEqual([most.get(service), poolSizeOf(service)]);
      expect(number(rolling), service).toBe(number(all) + Math.ceil(number(all) * surge));
      expect(number(connections), service).toBe(number(rolling) * number(pool));
    }
    const sum = rows.reduce((total, row) => total + number(row[5]), 0);
    expect(page).toContain(`\n${sum} if all roll together`);
  });

  it("states the manifests' requests and numbers of pods", () => {
    for (const [, service, request, , , , most] of pods) {
      const deployment = read(`base/services/${service}/deployment.yaml`);
      const cpu: string = deployment.spec.template.spec.containers[0].resources.requests.cpu;
      expect(number(request), service).toBe(cpu.endsWith('m') ? Number.parseInt(cpu, 10) / 1_000 : Number(cpu));
      const scalers = [`base/services/${service}/autoscaler.yaml`, `components/keda/${service}.yaml`];
      const found = scalers.filter((file) => existsSync(`${root}deploy/${file}`));
      const text = found.map((file) => readFileSync(`${root}deploy/${file}`, 'utf8')).join('\n');
      const limits = [...text.matchAll(/^ {2}maxReplica(?:s|Count): (\d+)$/gm)].map(([, count]) => Number(count));
      expect(new Set(limits.length === 0 ? [deployment.spec.replicas] : limits), service).toEqual(
        new Set([number(most)]),
      );
    }
  });
});
