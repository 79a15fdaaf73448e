import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { cloneRoot } from '../platform/project.ts';
import { readSlos } from './catalog.ts';

const file = (name: string, root: string) => join(root, 'dashboards/slos', `${name}.yaml`);

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'shopctl-slos-'));
  await mkdir(join(root, 'dashboards/slos'), { recursive: true });
  await copyFile(file('orders-latency', cloneRoot()), file('orders-latency', root));
});
afterEach(() => rm(root, { recursive: true }));

const text = () => readFile(file('orders-latency', root), 'utf8');

it('reads every file of the folder', async () => {
  expect((await readSlos(root)).map(({ name }) => name)).toEqual(['orders-latency']);
});

it('reports what is wrong with all files, and between them, with exit code 2', async () => {
  await writeFile(file('orders-b', root), await text());
  await writeFile(
    file('broken', root),
    (await text()).replace('target: 0.99', 'target: 1').replace('kind: SLO', 'kind: SLI'),
  );
  const error = await readSlos(root).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'invalid_slo', exitCode: 2, what: 'SLOs are not valid: 5 problems' });
  expect((error as { why: string }).why.split('\n')).toEqual([
    'dashboards/slos/broken.yaml:3:7 kind: expected "SLO", got "SLI"',
    expect.stringMatching(/^dashboards\/slos\/broken.yaml:\d+:15 spec.objectives\[0\].target: an objective of 100 %/),
    'dashboards/slos/orders-b.yaml:1:1 metadata.name: the file of orders-latency is named orders-latency.yaml',
    'dashboards/slos/orders-b.yaml:1:1 spec.alertPolicies: another SLO has the alert OrdersLatencyBudgetBurn too',
    'dashboards/slos/orders-latency.yaml:1:1 spec.alertPolicies: another SLO has the alert OrdersLatencyBudgetBurn too',
  ]);
});
