/*
 * Goal: no release is built, and none is started, that its database does not allow.
 * Method: the routes of deploys over a fleet that admits nothing.
 */

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CliError } from '../errors.ts';
import { createEventLog } from '../platform/events.ts';
import { cloneRoot, openProject, type Project } from '../platform/project.ts';
import type { Release } from '../platform/release.ts';
import type { InstanceState, PlatformState } from '../platform/state.ts';
import type { ExtensionContext, FleetControl, SupervisorExtension } from '../platform/supervisor-extension.ts';
import { createDeployJournal } from './journal.ts';
import type { JournalRecord } from './run.ts';
import { openDeploys } from './supervise.ts';

let home: string;
let project: Project;
let asked: unknown[];
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'shop-deploys-'));
  project = openProject('shop', cloneRoot(), { SHOPCTL_HOME: home });
  asked = [];
});
afterEach(() => rm(home, { recursive: true }));

const refusal = new CliError({ code: 'release_too_old', what: 'orders 0.1.0 cannot run on the database orders' });
const releaseOf = (version: string, folder: string): Release => ({
  version,
  folder,
  digest: version,
  seededBugs: [],
  env: {},
});

/** Asked for anything but whether a release is admitted, it fails. */
function aFleet(runs: Release): FleetControl {
  const admit: FleetControl['admit'] = async (starting) => {
    asked.push(...starting);
    throw refusal;
  };
  return { admit, releaseOf: () => runs, fleetOf: () => [] } as unknown as FleetControl;
}

async function openWith(fleet: FleetControl): Promise<SupervisorExtension> {
  const own = { name: 'orders-1', service: 'orders', kind: 'service', status: 'ready' } as InstanceState;
  const state = { instances: [own], faults: [], edges: [], runtime: 'process' } as unknown as PlatformState;
  const context = { project, events: createEventLog(), state: () => state, fleet, env: {} };
  return openDeploys(context as unknown as ExtensionContext & { env: NodeJS.ProcessEnv });
}

function post(extension: SupervisorExtension, path: string, body: object): Promise<boolean> {
  const request = Readable.from([Buffer.from(JSON.stringify(body))]) as unknown as IncomingMessage;
  return extension.handle(`POST /v1/deploys${path}`, request, {} as ServerResponse);
}

const by = { by: { user: 'test', source: 'command line' } } as const;
const journal = () => createDeployJournal(project, () => undefined);

it('a deploy asks whether its release is admitted before anything is built or recorded', async () => {
  const extension = await openWith(aFleet(releaseOf('0.2.0', 'dist')));
  const request = { service: 'orders', strategy: 'rolling', keepMs: 0, asked: by };
  await expect(post(extension, '', request)).rejects.toBe(refusal);
  await expect(post(extension, '', { ...request, dryRun: true })).rejects.toBe(refusal);
  const one = {
    service: 'orders',
    version: expect.stringMatching(/^\d+\.\d+\.\d+-d/),
    where: 'the sources of this clone',
  };
  expect(asked).toEqual([one, one]);
  expect(await journal().read()).toEqual([]);
});

it('so does a rollback to the release of before', async () => {
  const folder = join('.shop', 'test-release');
  await journal().append(
    ...([
      {
        kind: 'planned',
        service: 'orders',
        strategy: 'rolling',
        source: 'HEAD',
        from: '0.1.0',
        to: '0.2.0',
        keepMs: 0,
      },
      { kind: 'releases', from: releaseOf('0.1.0', folder), to: releaseOf('0.2.0', 'dist') },
      { kind: 'state', state: 'done' },
    ].map((line) => ({ time: '2026-11-24T09:00:00.000Z', run: 'a', asked: by, ...line })) as JournalRecord[]),
  );
  project = { ...project, root: home };
  await mkdir(join(home, folder), { recursive: true });
  const extension = await openWith(aFleet(releaseOf('0.2.0', 'dist')));
  await expect(post(extension, '/rollback', { service: 'orders', keepMs: 0, asked: by })).rejects.toBe(refusal);
  expect(asked).toEqual([{ service: 'orders', version: '0.1.0', where: folder }]);
  await rm(join(home, folder), { recursive: true });
  await expect(post(extension, '/rollback', { service: 'orders', keepMs: 0, asked: by })).rejects.toMatchObject({
    code: 'release_unavailable',
    what: 'the release 0.1.0 of orders is not kept any more',
  });
});

it('a canary without a plan, and a plan for another strategy, are refused', async () => {
  const extension = await openWith(aFleet(releaseOf('0.2.0', 'dist')));
  const request = { service: 'orders', keepMs: 0, asked: by };
  for (const wrong of [{ strategy: 'canary' }, { strategy: 'rolling', canary: {} }])
    await expect(post(extension, '', { ...request, ...wrong })).rejects.toMatchObject({ code: 'invalid_strategy' });
  expect(asked).toEqual([]);
});

it('an image is refused where services run as processes, before an engine is looked for', async () => {
  const extension = await openWith(aFleet(releaseOf('0.2.0', 'dist')));
  const request = { service: 'orders', strategy: 'rolling', keepMs: 0, asked: by, image: 'shop/orders:1.4.0' };
  await expect(post(extension, '', request)).rejects.toMatchObject({
    code: 'invalid_release',
    exitCode: 2,
    next: expect.stringContaining('--runtime docker'),
  });
  await expect(post(extension, '', { ...request, service: 'order' })).rejects.toMatchObject({
    code: 'unknown_service',
  });
  expect(asked).toEqual([]);
});
