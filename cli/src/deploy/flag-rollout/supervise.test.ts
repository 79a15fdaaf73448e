import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { CliError } from '../../errors.ts';
import { createEventLog } from '../../platform/events.ts';
import { cloneRoot, openProject, type Project } from '../../platform/project.ts';
import type { ExtensionContext } from '../../platform/supervisor-extension.ts';
import { loadPlan } from '../analysis/load-plan.ts';
import { openFlagRollouts } from './supervise.ts';

const rate = vi.hoisted(() => ({ now: 0 }));
vi.mock('../observe/present-rate.ts', () => ({ presentRate: async () => rate.now }));

const FLAG = 'publish-order-confirmed-v2';
const plan = await loadPlan(join(cloneRoot(), 'deploy/plans/orders.yaml'));
const asked = { by: { user: 'test', source: 'command line' } } as const;
const deploying = new CliError({ code: 'deploy_active', what: 'a deploy of orders to 0.3.0 is kept' });

let home: string;
let project: Project;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'shop-rollouts-'));
  project = { ...openProject('shop', cloneRoot(), {}), stateDir: home };
});
afterEach(() => rm(home, { recursive: true }));

/** Of a platform whose orders is ready and whose telemetry does not respond: what goes further than the refusals fails there. */
async function ask(changes: object = {}, obstacle = (): CliError | undefined => undefined): Promise<boolean> {
  const own = { name: 'orders-1', service: 'orders', kind: 'service', status: 'ready' };
  const state = () => ({ instances: [own], faults: [], telemetryUrl: 'http://127.0.0.1:1' });
  const context = { project, events: createEventLog(), state, obstacle };
  const rollouts = await openFlagRollouts(
    context as unknown as ExtensionContext & { obstacle: () => CliError | undefined },
  );
  expect(rollouts.active()).toBeUndefined();
  const body = JSON.stringify({ flag: FLAG, plan, asked, ...changes });
  const request = Readable.from([Buffer.from(body)]) as unknown as IncomingMessage;
  return rollouts.handle('POST /v1/flag-rollouts', request, {} as ServerResponse);
}

const GONE_FURTHER = { code: 'telemetry_unreachable' };

it('a rollout whose orders are too few for its plan is refused, unless it is forced', async () => {
  rate.now = 0.1;
  await expect(ask()).rejects.toMatchObject({ code: 'plan_out_of_reach', exitCode: 2 });
  await expect(ask({ force: true })).rejects.toMatchObject(GONE_FURTHER);
});

it('a rollout whose orders are enough is not refused, and neither is one without any: it waits for them', async () => {
  rate.now = 100;
  await expect(ask()).rejects.toMatchObject(GONE_FURTHER);
  rate.now = 0;
  await expect(ask()).rejects.toMatchObject(GONE_FURTHER);
});

it('a rollout is refused while a release is deployed', async () => {
  await expect(ask({ force: true }, () => deploying)).rejects.toBe(deploying);
});
