import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { serviceNames } from '../../cli/src/platform/services.ts';

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
