import { afterEach, expect, it } from 'vitest';
import type { CommandDeps } from '../../command-context.ts';
import { createOutput } from '../../output/output.ts';
import { cloneRoot } from '../../platform/project.ts';
import { runDeployExport } from './run-deploy-export.ts';

const options = { for: 'argo-rollouts', rate: 50, step: 1 } as const;
let printed = '';
let warned = '';
afterEach(() => {
  printed = '';
  warned = '';
});

function deps(format: 'text' | 'json' = 'text'): CommandDeps {
  const stdout = {
    write(text: string) {
      printed += text;
    },
  };
  const stderr = {
    write(text: string) {
      warned += text;
    },
  };
  const output = createOutput({ stdout, stderr, env: { NO_COLOR: '1' } });
  output.use(format);
  return { output } as unknown as CommandDeps;
}

it('prints YAML that begins with what it needs and what it cannot say', async () => {
  await runDeployExport('orders', options, deps());
  expect(printed).toMatch(/^# The plan of orders for argo-rollouts.*\n# Needs:\n/);
  expect(printed).toContain('\napiVersion: argoproj.io/v1alpha1\nkind: Rollout\n');
  expect(warned).toBe('');
});

it('has the same as JSON, and warns of a rate at which the plan cannot end', async () => {
  await runDeployExport('orders', { ...options, for: 'flagger', rate: 2 }, deps('json'));
  expect(JSON.parse(printed)).toMatchObject({
    for: 'flagger',
    manifests: [{ kind: 'Canary' }, { kind: 'MetricTemplate' }, { kind: 'MetricTemplate' }],
    notExpressed: expect.arrayContaining([expect.stringContaining('tests E, S and P')]),
  });
  expect(warned).toContain('the plan cannot end within its limit: at 2 requests a second');
});

it.each([
  ['a service that there is not', 'order', undefined, 'unknown_service'],
  ['one whose calls are not divided', 'shipping', undefined, 'invalid_strategy'],
  ['the plan of another', 'payments', `${cloneRoot()}/deploy/plans/orders.yaml`, 'invalid_plan'],
])('refuses %s', async (_title, service, plan, code) => {
  const asked = { ...options, ...(plan !== undefined && { plan }) };
  await expect(runDeployExport(service, asked, deps())).rejects.toMatchObject({ code, exitCode: 2 });
});
