/*
 * Goal: what `shopctl deploy export` prints is accepted by the programs that it is for, and fits the manifests of deploy/.
 * Method: every format of the plan of the repository, by the schemas of these programs, beside the production overlay.
 */
import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { loadPlan } from '../../cli/src/deploy/analysis/load-plan.ts';
import type { CanaryPlan } from '../../cli/src/deploy/analysis/plan.ts';
import { exportPlan } from '../../cli/src/deploy/export/export-plan.ts';
import { exportFormats } from '../../cli/src/deploy/export/formats.ts';
import { writeManifests } from '../../cli/src/deploy/export/manifest.ts';
import { find, type Manifest, type Service, type Workload } from './support/manifest.ts';
import { cannotRender, render } from './support/render.ts';
import { createValidator, noSchemas } from './support/schemas.ts';

const LIMIT_MS = 180_000;
const root = new URL('../../', import.meta.url).pathname;
const plan = await loadPlan(`${root}deploy/plans/orders.yaml`);
const planOf = (service: string): CanaryPlan => ({ ...plan, service });
const request = { ratePerSecond: 50, step: 2 };
const cases = exportFormats.flatMap((format) =>
  ['orders', 'catalog', 'payments'].map((service) => [format, service] as const),
);

/** As a cluster would read it. */
function readBack(format: (typeof exportFormats)[number], service: string): readonly Manifest[] {
  const text = writeManifests(service, exportPlan(planOf(service), format, request));
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}

describe('an exported plan', () => {
  it.each(cases)('for %s has each step of %s, and no chance to be read otherwise', (format, service) => {
    const exported = exportPlan(planOf(service), format, request);
    expect(readBack(format, service)).toEqual(exported.manifests);
    expect(exported.notExpressed.length).toBeGreaterThan(4);
  });

  it('has the weights of the plan', () => {
    const specOf = (format: (typeof exportFormats)[number]) => readBack(format, 'orders')[0]?.spec;
    const steps = plan.steps.map(({ share }) => share * 100);
    expect(specOf('flagger')).toMatchObject({ analysis: { stepWeights: steps, interval: '40s' } });
    const weights = steps.map((setWeight) => expect.objectContaining({ setWeight }));
    expect(specOf('argo-rollouts')).toMatchObject({
      strategy: { canary: { steps: expect.arrayContaining([...weights, { pause: { duration: '40s' } }]) } },
    });
    const drawn = { name: 'drawn', backendRefs: [{ weight: 95 }, { weight: 5 }] };
    expect(specOf('gateway-api')).toMatchObject({ rules: [{ name: 'asked-for' }, drawn] });
  });

  it.each(exportFormats)('for %s says that it has neither test E nor a share by key', (format) => {
    const text = writeManifests('', exportPlan(plan, format, request));
    expect(text).toContain('# - a customer who stays at one version');
    expect(text).toMatch(format === 'gateway-api' ? /# - any analysis: nothing rolls back/ : /# - tests E, S and P/);
  });

  it('measures by what SLOs measure by', async () => {
    const text = JSON.stringify([...readBack('argo-rollouts', 'orders'), ...readBack('flagger', 'orders')]);
    const slos = await Promise.all(
      ['orders-availability', 'orders-latency'].map((name) => readFile(`${root}dashboards/slos/${name}.yaml`, 'utf8')),
    );
    const names = new Set(text.match(/\b(http|shop)_\w+_(total|count|bucket)\b/g));
    expect([...names].toSorted()).toHaveLength(3);
    for (const name of names) expect(slos.join('\n')).toContain(name);
  });

  it('is refused for a service whose calls no route divides, and for a step that is not there', () => {
    const refused = { code: 'invalid_strategy', exitCode: 2 };
    expect(() => exportPlan(planOf('stock'), 'flagger', request)).toThrow(expect.objectContaining(refused));
    const beyond = { ...request, step: 5 };
    expect(() => exportPlan(plan, 'gateway-api', beyond)).toThrow(expect.objectContaining({ exitCode: 2 }));
  });
});

describe.skipIf(noSchemas !== undefined)('the schemas of other programs', { timeout: 60_000 }, () => {
  let check: (manifest: Manifest) => readonly string[];
  beforeAll(async () => {
    check = await createValidator();
  }, LIMIT_MS);

  it.each(cases)('accept what is exported for %s, of %s', (format, service) => {
    expect(readBack(format, service).flatMap((manifest) => check(manifest))).toEqual([]);
  });

  it('refuse a field that they do not have', () => {
    const [rollout] = readBack('argo-rollouts', 'orders') as [Manifest<object>];
    const [canary] = readBack('flagger', 'orders') as [Manifest<object>];
    const wrong = [rollout, canary].map((one) => ({ ...one, spec: { ...one.spec, alpha: 0.01 } }));
    expect(wrong.flatMap((manifest) => check(manifest))).toEqual([
      'Rollout orders/spec: must NOT have additional properties (alpha)',
      'Canary orders/spec: must NOT have additional properties (alpha)',
    ]);
  });
});

describe.skipIf(cannotRender !== undefined)('the manifests of deploy/', { timeout: 60_000 }, () => {
  let base: readonly Manifest[];
  beforeAll(async () => {
    base = await render('overlays/production');
  }, LIMIT_MS);

  it.each(['orders', 'catalog', 'payments'])('have the Deployment and the Service of %s that are named', (service) => {
    const workload = find<Workload>(base, 'Deployment', service);
    const own = find<Service>(base, 'Service', service);
    const [rollout, , canary] = readBack('argo-rollouts', service);
    expect(rollout?.spec).toMatchObject({ selector: { matchLabels: own.spec.selector } });
    expect(canary?.spec).toEqual({ selector: own.spec.selector, ports: own.spec.ports });
    expect(workload.spec.template.metadata.labels).toMatchObject(own.spec.selector);
    const isScaled = base.some(({ kind, metadata }) => kind === 'ScaledObject' && metadata.name === service);
    const [flagged] = readBack('flagger', service) as [Manifest<object>];
    expect('autoscalerRef' in flagged.spec).toBe(isScaled);
  });
});
