// Goal: whatever is killed, nothing is left running, and what should run runs again.
// Method: the real supervisor, reaper and control API around children that are small scripts.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseUpstreams } from '@shop/kit/upstreams.ts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bundleCli, type CliBundle } from '../../../test/support/cli-bundle.ts';
import { type Guard, guardMark, startGuard } from '../../../test/support/guard.ts';
import type { CommandDeps } from '../command-context.ts';
import type { CliError } from '../errors.ts';
import { createOutput } from '../output/output.ts';
import { identifyProcess, isAlive, type ProcessIdentity } from '../process/process-identity.ts';
import { type Asked, changeFile, readChanges } from './change-log.ts';
import { createControlClient, isGone, type UpProgress, type UpRequest } from './control-client.ts';
import { endPlatform } from './end-platform.ts';
import { findLeftovers } from './leftovers.ts';
import type { OperationRequest } from './operations.ts';
import { noOverrides, type Overrides, overridesFile, readOverrides, writeOverrides } from './overrides.ts';
import { cloneRoot, openProject, type Project } from './project.ts';
import { childListFile, endEarlierRun } from './run-supervisor.ts';
import { type PlatformState, readState } from './state.ts';
import { signalSupervisor, waitUntilGone } from './supervisor-end.ts';
import { isSupervisorRunning, startSupervisor } from './supervisor-process.ts';
import { upstreamsFile, upstreamsFolder } from './upstreams-file.ts';

const everything: UpRequest = { services: [], replicas: {}, providers: {}, waitTimeoutMs: 10_000 };

const asked: Asked = { by: { user: 'anna', source: 'command line' }, reason: 'drill' };

let program: CliBundle;
let folder: string;
/** A supervisor survives the process that started it, so nothing else ends it where the tests are killed. */
let guard: Guard | undefined;
beforeAll(async () => {
  program = await bundleCli('cli/src/platform/testing/fake-supervisor.ts');
  folder = await mkdtemp(join(tmpdir(), 'shopctl-test-'));
  guard = startGuard(folder, ['rm', '-rf', dirname(program.file)]);
});
afterAll(async () => {
  await program?.[Symbol.asyncDispose]();
  await guard?.[Symbol.asyncDispose]();
});

let home: string;
let project: Project;
let written: string;

beforeEach(async () => {
  home = await mkdtemp(join(folder, 'home-'));
  project = openProject('fake', cloneRoot(), { SHOPCTL_HOME: home });
});

afterEach(async () => {
  // After a start that failed it is ending without a request.
  if (await isSupervisorRunning(project)) await createControlClient(project).down({}).catch(unlessGone);
  await waitUntilGone(project, 5000);
  await endEarlierRun(project, await readState(project.stateFile));
  await rm(home, { recursive: true });
});

function unlessGone(error: unknown): void {
  if (!isGone(error)) throw error;
}

const twoServices = { base: {}, top: { dependsOn: ['base'] } };

async function start(services: Record<string, unknown>, env: NodeJS.ProcessEnv = {}): Promise<void> {
  await startSupervisor({
    project,
    env: {
      ...process.env,
      ...guardMark(folder),
      SHOPCTL_HOME: home,
      SHOPCTL_FAKE: JSON.stringify(services),
      ...program.env,
      ...env,
    },
    command: [process.execPath, program.file, 'fake'],
  });
}

async function up(request: UpRequest = everything, signal?: AbortSignal): Promise<UpProgress | undefined> {
  let last: UpProgress | undefined;
  for await (const response of createControlClient(project).up(request, signal)) last = response;
  return last;
}

/** What commands are given; what they write is kept. */
function deps(): CommandDeps {
  written = '';
  const stream = {
    write(text: string) {
      written += text;
    },
  };
  const output = createOutput({ stdout: stream, stderr: stream, env: {} });
  output.use('json');
  const connect = () => Promise.reject(new Error('not needed'));
  return { output, env: {}, signal: AbortSignal.any([]), onInterrupt() {}, projectFrom: () => project, connect };
}

const state = () => createControlClient(project).state();

function processOf({ instances }: PlatformState, name: string): ProcessIdentity {
  const found = instances.find((instance) => instance.name === name)?.process;
  if (!found) throw new Error(`${name} has no process`);
  return found;
}

async function until(what: string, condition: () => Promise<boolean>, limitMs = 8000): Promise<void> {
  await expect.poll(condition, { timeout: limitMs, interval: 20, message: what }).toBe(true);
}

async function gone(processes: readonly ProcessIdentity[]): Promise<boolean> {
  return !(await Promise.all(processes.map(isAlive))).includes(true);
}

describe('supervisor', { timeout: 30_000 }, () => {
  it('starts what is needed in order and stops everything on down', async () => {
    await start(twoServices);
    const done = await up();
    expect(done).toMatchObject({ type: 'done', started: ['base', 'top'], state: { status: 'ready' } });
    const { instances, supervisor, reaper } = await state();
    await createControlClient(project).down({});
    await waitUntilGone(project, 5000);
    expect(await gone([...instances.map(({ process }) => process as ProcessIdentity), supervisor])).toBe(true);
    await until('the reaper ends', () => gone([reaper as ProcessIdentity]));
    expect(await readState(project.stateFile)).toMatchObject({ status: 'stopped' });
  });

  it('changes nothing when up is repeated', async () => {
    await start(twoServices);
    await up();
    const before = processOf(await state(), 'top');
    expect(await up()).toMatchObject({ type: 'done', started: [] });
    expect(processOf(await state(), 'top')).toEqual(before);
  });

  it('gives the same ports again after a stop', async () => {
    await start(twoServices);
    await up();
    const { ports } = await state();
    await createControlClient(project).down({});
    await waitUntilGone(project, 5000);
    await start(twoServices);
    await up();
    expect((await state()).ports).toEqual(ports);
  });

  it('restarts a child that was killed', async () => {
    await start(twoServices);
    await up();
    const killed = processOf(await state(), 'base');
    process.kill(killed.pid, 'SIGKILL');
    await until('base runs again', async () => {
      const base = (await state()).instances.find(({ name }) => name === 'base');
      return base?.status === 'ready' && base.process?.pid !== killed.pid && base.restarts === 1;
    });
  });

  it('counts what replaced a process: its exit, a command, another configuration', async () => {
    await start(twoServices);
    await up();
    const counts = async () => {
      const base = (await state()).instances.find(({ name }) => name === 'base');
      return `${base?.status} ${base?.restarts} ${base?.crashes}`;
    };
    expect(await counts()).toBe('ready 0 0');
    process.kill(processOf(await state(), 'base').pid, 'SIGKILL');
    await until('base runs again', async () => (await counts()) === 'ready 1 1');
    await createControlClient(project).service('base', 'restart', asked);
    expect(await counts()).toBe('ready 2 1');
    await up({ ...everything, direct: true });
    expect(await counts()).toBe('ready 3 1');
  });

  it('kills a child that ignores SIGTERM after its limit', async () => {
    await start({ stubborn: { env: { IGNORE_SIGTERM: '1' } } });
    await up();
    const stubborn = processOf(await state(), 'stubborn');
    await createControlClient(project).service('stubborn', 'stop', asked);
    expect(await gone([stubborn])).toBe(true);
  });

  it('gives up in a crash loop and names culprit, reason and last log lines', async () => {
    await start({ base: {}, broken: { env: { CRASH_AT_START: '1' } } });
    const response = await up();
    expect(response).toMatchObject({ type: 'failed', error: { what: 'broken is not ready', code: 'instance_failed' } });
    expect(JSON.stringify(response)).toContain('gave up after 3 starts: exit code 7');
    expect(JSON.stringify(response)).toContain('fake: no configuration, ending');
  });

  it('ends a start that takes too long with 124 and the reason the service itself gives', async () => {
    await start({ slow: { env: { UNREADY: '1' } } });
    const response = await up({ ...everything, waitTimeoutMs: 700 });
    expect(response).toMatchObject({
      type: 'failed',
      error: { what: 'slow is not ready after 0.7 s', code: 'not_ready_in_time' },
    });
    expect(JSON.stringify(response)).toContain('database is down (no response in 1000 ms)');
  });

  it('keeps an extra until it is left out, whichever part of the platform is asked for', async () => {
    await start({ ...twoServices, extra: { isExtra: true } });
    const names = async () => (await state()).instances.map(({ name }) => name);
    await up();
    expect(await names()).toEqual(['base', 'top']);
    expect(await up({ ...everything, services: ['base'], alerts: true })).toMatchObject({ started: ['extra'] });
    await up();
    await up({ ...everything, services: ['base'] });
    expect(await names()).toContain('extra');
    const extra = processOf(await state(), 'extra');
    await up({ ...everything, services: ['base'], alerts: false });
    expect(await names()).toEqual(expect.not.arrayContaining(['extra']));
    expect(await gone([extra])).toBe(true);
    expect(await names()).toHaveLength(2);
  });

  it('refuses an unknown service immediately, with a suggestion', async () => {
    await start(twoServices);
    const response = await up({ ...everything, services: ['bas'] });
    expect(response).toMatchObject({ type: 'failed', error: { code: 'unknown_service' } });
    expect(JSON.stringify(response)).toContain('did you mean \\"base\\"');
  });

  it('stops again what an interrupted up had started, and ends', async () => {
    await start({ base: {}, slow: { env: { UNREADY: '1' } } });
    const client = new AbortController();
    const asked = up(everything, client.signal).catch((error: Error) => error.name);
    await until('both run', async () => (await state()).instances.filter(({ process }) => process).length === 2);
    const { instances } = await state();
    client.abort();
    expect(await asked).toBe('AbortError');
    await waitUntilGone(project, 8000);
    expect(await gone(instances.map(({ process }) => process as ProcessIdentity))).toBe(true);
  });

  it('leaves a platform alone that was up before an interrupted up', async () => {
    await start(twoServices);
    await up();
    const before = processOf(await state(), 'base');
    const client = new AbortController();
    client.abort();
    await expect(up(everything, client.signal)).rejects.toThrow();
    expect(processOf(await state(), 'base')).toEqual(before);
  });

  it('says what becomes of requests to a service that it restarts, where nothing else serves them', async () => {
    await start({ base: {} });
    await up();
    const reported: string[] = [];
    for await (const response of createControlClient(project).up({ ...everything, direct: true })) {
      if (response.type === 'event' && response.event.type === 'instance.retired')
        reported.push(response.event.message);
    }
    expect(reported).toEqual([
      'its configuration changed: restarting it; it finishes requests in flight, and refuses connections until it is ready again',
    ]);
  });

  describe('that replaces replicas', () => {
    const replicas = { 'base-1': { service: 'base' }, 'base-2': { service: 'base' }, 'base-3': { service: 'base' } };
    const statuses = async () => (await state()).instances.map(({ status }) => status);

    /** What happens while `work` is done: each start and each readiness, in order. */
    async function followed(work: () => Promise<unknown>): Promise<readonly string[]> {
      const seen: string[] = [];
      const over = new AbortController();
      const first = (await state()).instances.length;
      const following = (async () => {
        for await (const { type, subject } of createControlClient(project).events({
          follow: true,
          signal: over.signal,
        }))
          if (/^instance\.(starting|ready)$/.test(type)) seen.push(`${subject} ${type.slice('instance.'.length)}`);
      })().catch((error: Error) => error.name);
      // What happened before is reported first.
      await until('what happened before was reported', async () => seen.length === 2 * first);
      await work();
      await until(
        'the last readiness was reported',
        async () => seen.at(-1) === 'base-3 ready' && seen.length === 4 * first,
      );
      over.abort();
      await following;
      return seen.slice(2 * first);
    }
    const oneAfterTheOther = ['base-1', 'base-2', 'base-3'].flatMap((name) => [`${name} starting`, `${name} ready`]);

    it('restarts one after the other, the next only when the last is ready', async () => {
      await start(replicas);
      await up();
      expect(await followed(() => createControlClient(project).service('base', 'restart', asked))).toEqual(
        oneAfterTheOther,
      );
    });

    it('does the same where their configuration changed', async () => {
      await start(replicas);
      await up();
      expect(await followed(() => up({ ...everything, direct: true }))).toEqual(oneAfterTheOther);
    });

    it('goes no further than to the first that does not get ready: the others stay as they were', async () => {
      await start({
        'base-1': { service: 'base', envWhenDirect: { CRASH_AT_START: '1' } },
        'base-2': { service: 'base' },
      });
      await up();
      const before = processOf(await state(), 'base-2');
      const response = await up({ ...everything, direct: true });
      expect(response).toMatchObject({
        type: 'failed',
        error: { what: 'base-1 is not ready', code: 'instance_failed' },
      });
      expect(processOf(await state(), 'base-2')).toEqual(before);
      expect(await statuses()).toEqual(['failed', 'ready']);
    });

    it('replaces what does not serve in the first round, so that another attempt repairs it', async () => {
      await start({ 'base-1': { service: 'base' }, 'base-2': { service: 'base' } });
      await up();
      await createControlClient(project).service('base-2', 'stop', asked);
      await createControlClient(project).service('base', 'restart', asked);
      expect(await statuses()).toEqual(['ready', 'ready']);
    });

    it('says who ended it where it is ended between two of them', async () => {
      await start(replicas, { SHOPCTL_FAKE_ROUND_MS: '60000' });
      await up();
      const before = processOf(await state(), 'base-1');
      const asked = up({ ...everything, direct: true });
      await until('the first is replaced', async () => {
        const [now] = (await state()).instances;
        return now?.status === 'ready' && now.process?.pid !== before.pid;
      });
      await createControlClient(project).down({});
      expect(await asked).toMatchObject({
        type: 'failed',
        error: { code: 'start_cancelled', what: 'stopped by "shopctl down"' },
      });
    });

    it.each([
      ['that is not ready yet', { 'base-1': { service: 'base', env: { UNREADY: '1' } } }, '50'],
      ['between two replicas', replicas, '60000'],
    ])('ends a restart %s for a down, which says so', async (_, services, roundMs) => {
      await start(services, { SHOPCTL_FAKE_ROUND_MS: roundMs });
      await up({ ...everything, waitTimeoutMs: 2_000 });
      const before = processOf(await state(), 'base-1');
      const restarted = createControlClient(project)
        .service('base', 'restart', asked)
        .catch((error: CliError) => error.code);
      await until('the first is replaced', async () => {
        const now = (await state()).instances[0]?.process;
        return now !== undefined && now.pid !== before.pid;
      });
      await createControlClient(project).down({});
      expect(await restarted).toBe('start_cancelled');
    });

    it('runs on what it had replaced when the asker disconnects', async () => {
      await start({ 'base-1': { service: 'base', envWhenDirect: { UNREADY: '1' } } });
      await up();
      const before = processOf(await state(), 'base-1');
      const client = new AbortController();
      const asked = up({ ...everything, direct: true }, client.signal).catch((error: Error) => error.name);
      await until('it was replaced', async () => {
        const now = (await state()).instances[0]?.process;
        return now !== undefined && now.pid !== before.pid;
      });
      client.abort();
      expect(await asked).toBe('AbortError');
      await until('nothing is in progress', async () => (await state()).status !== 'starting');
      expect(await statuses()).toEqual(['starting']);
    });
  });

  describe('that announces replicas to their callers', () => {
    const shop = { top: { dependsOn: ['base'] }, 'base-1': { service: 'base' }, 'base-2': { service: 'base' } };
    const announced = async () =>
      parseUpstreams(await readFile(upstreamsFile(upstreamsFolder(project)), 'utf8')).edges['top-base']?.map(
        ({ instance, state }) => `${instance} ${state}`,
      );

    /** What was announced while `work` was done, without repetitions. */
    async function announcedDuring(work: () => Promise<unknown>): Promise<readonly string[]> {
      const seen: string[] = [];
      let isOver = false;
      const looking = (async () => {
        for (;;) {
          const last = isOver;
          const now = String(await announced());
          if (now !== seen.at(-1)) seen.push(now);
          if (last) return;
        }
      })();
      await work().finally(() => {
        isOver = true;
      });
      await looking;
      return seen;
    }

    it('has written all replicas down before it is ready, and a removed one is drained, then gone', async () => {
      await start(shop);
      await up();
      expect(await announced()).toEqual(['base-1 active', 'base-2 active']);
      const before = processOf(await state(), 'top');
      expect(await announcedDuring(() => up({ ...everything, replicas: { base: 1 } }))).toEqual([
        'base-1 active,base-2 active',
        'base-1 active,base-2 draining',
        'base-1 active',
      ]);
      expect(processOf(await state(), 'top')).toEqual(before);
    });

    it('shows an added replica once it is ready, and restarts no caller', async () => {
      await start(shop);
      await up({ ...everything, replicas: { base: 1 } });
      const before = processOf(await state(), 'top');
      expect(await announcedDuring(() => up({ ...everything, replicas: { base: 2 } }))).toEqual([
        'base-1 active',
        'base-1 active,base-2 active',
      ]);
      expect(processOf(await state(), 'top')).toEqual(before);
      expect((await state()).instances.find(({ name }) => name === 'base-2')).toMatchObject({
        status: 'ready',
        upstream: { state: 'active', weight: 100 },
      });
    });

    it.each([
      ['up', () => up({ ...everything, replicas: { base: 2 } })],
      [
        'scale',
        () => createControlClient(project).operate({ kind: 'scale', replicas: { base: 2 } }, { dryRun: false, asked }),
      ],
    ])('an added replica has been read by its callers when %s ends', async (_command, add) => {
      const announceMs = 1_000;
      await start(shop, { SHOPCTL_FAKE_ANNOUNCE_MS: String(announceMs) });
      await up({ ...everything, replicas: { base: 1 } });
      await add();
      const shownForMs = Date.now() - (await stat(upstreamsFile(upstreamsFolder(project)))).mtimeMs;
      expect(await announced()).toEqual(['base-1 active', 'base-2 active']);
      // A timer may end a millisecond early.
      expect(shownForMs).toBeGreaterThanOrEqual(announceMs - 5);
    });

    it('shows one that is added by an up of its service alone, whose caller runs already', async () => {
      await start(shop);
      await up({ ...everything, replicas: { base: 1 } });
      const before = processOf(await state(), 'top');
      await up({ ...everything, services: ['base'], replicas: { base: 2 } });
      expect(await announced()).toEqual(['base-1 active', 'base-2 active']);
      expect(processOf(await state(), 'top')).toEqual(before);
    });

    it('never shows one that does not get ready', async () => {
      await start({ ...shop, 'base-2': { service: 'base', env: { UNREADY: '1' } } });
      await up({ ...everything, replicas: { base: 1 } });
      expect(await announcedDuring(() => up({ ...everything, replicas: { base: 2 }, waitTimeoutMs: 500 }))).toEqual([
        'base-1 active',
      ]);
    });

    it.each([
      ['', false],
      [', also where its successor is ready by then', true],
    ])(
      'announces each replica that is restarted before it ends, and no more when it is ready again%s',
      async (_, beside) => {
        const replica = { service: 'base', beside };
        await start({ ...shop, 'base-1': replica, 'base-2': replica });
        await up();
        const seen = await announcedDuring(() => createControlClient(project).service('base', 'restart', asked));
        const both = 'base-1 active,base-2 active';
        // Between the two it lasts as long as two writes, and a look may come too late for it.
        const between = seen.slice(1, -1).filter((one) => one !== both);
        expect(between).toEqual(['base-1 draining,base-2 active', 'base-1 active,base-2 draining']);
        expect([seen[0], seen.at(-1)]).toEqual([both, both]);
      },
    );
  });

  describe('that replaces what can run beside its successor', () => {
    const own = async () => (await state()).instances[0]?.ports.health;
    const events = async () => {
      const seen: string[] = [];
      for await (const { type, subject } of createControlClient(project).events({ follow: false }))
        seen.push(`${subject} ${type}`);
      return seen.filter((one) => one.startsWith('base ')).map((one) => one.slice('base instance.'.length));
    };

    it('ends it only when its successor is ready, on its other port', async () => {
      await start({ base: { beside: true } });
      await up();
      const before = processOf(await state(), 'base');
      const port = await own();
      await createControlClient(project).service('base', 'restart', asked);
      expect(await events()).toEqual(['starting', 'ready', 'starting', 'ready', 'retired']);
      expect(await gone([before])).toBe(true);
      expect((await state()).instances).toMatchObject([{ name: 'base', status: 'ready', restarts: 1, crashes: 0 }]);
      expect(await own()).not.toBe(port);
      await up({ ...everything, direct: true });
      expect((await state()).instances).toMatchObject([{ status: 'ready', restarts: 2, crashes: 0 }]);
      expect(await own()).toBe(port);
    });

    it('leaves it as it is where its successor does not get ready, and says so', async () => {
      await start({ base: { beside: true, envWhenDirect: { CRASH_AT_START: '1' } } });
      await up();
      const before = processOf(await state(), 'base');
      expect(await up({ ...everything, direct: true })).toMatchObject({
        type: 'failed',
        error: {
          code: 'instance_failed',
          what: 'the new process of base is not ready',
          next: expect.stringContaining('the old one goes on serving'),
        },
      });
      expect(processOf(await state(), 'base')).toEqual(before);
      expect((await state()).instances).toMatchObject([{ status: 'ready', restarts: 0 }]);
    });

    it('leaves it as it is where a restart brings no process that is ready, and says so', async () => {
      const broken = join(home, 'broken');
      await start({ base: { beside: true, env: { CRASH_WHILE: broken } } });
      await up();
      const before = processOf(await state(), 'base');
      await writeFile(broken, '');
      await expect(createControlClient(project).service('base', 'restart', asked)).rejects.toMatchObject({
        code: 'instance_failed',
        what: 'the new process of base is not ready',
        next: expect.stringContaining('the old one goes on serving'),
      });
      expect(processOf(await state(), 'base')).toEqual(before);
      expect((await state()).instances).toMatchObject([{ status: 'ready', restarts: 0, crashes: 0 }]);
    });

    it('replaces one that runs and is not ready, which a new process may be', async () => {
      const broken = join(home, 'broken');
      await start({ base: { beside: true, env: { UNREADY_WHILE: broken }, envWhenDirect: { UNREADY_WHILE: '' } } });
      await up();
      const before = processOf(await state(), 'base');
      await writeFile(broken, '');
      await until('it is unready', async () => (await state()).instances[0]?.status === 'unready');
      expect(await up({ ...everything, direct: true })).toMatchObject({ type: 'done' });
      expect(await gone([before])).toBe(true);
      expect((await state()).instances).toMatchObject([{ status: 'ready', restarts: 1, crashes: 0 }]);
    });

    it('replaces what can be replaced where another successor does not get ready', async () => {
      await start({
        base: { beside: true, envWhenDirect: { CRASH_AT_START: '1' } },
        top: { beside: true, dependsOn: ['base'] },
      });
      await up();
      const before = [processOf(await state(), 'base'), processOf(await state(), 'top')];
      expect(await up({ ...everything, direct: true })).toMatchObject({
        type: 'failed',
        error: { what: 'the new process of base is not ready' },
      });
      expect(processOf(await state(), 'base')).toEqual(before[0]);
      expect(await gone([before[1] as ProcessIdentity])).toBe(true);
      expect((await state()).status).toBe('ready');
    });

    it('ends both with the supervisor', async () => {
      await start({ base: { beside: true, envWhenDirect: { UNREADY: '1' } } });
      await up();
      const { supervisor, mark } = await state();
      const asked = up({ ...everything, direct: true }).catch((error: Error) => error);
      const running = () => findLeftovers(childListFile(project, mark), mark);
      await until('both run', async () => (await running()).length === 2);
      process.kill(supervisor.pid, 'SIGKILL');
      await asked;
      await until('none runs', async () => (await running()).length === 0);
    });

    it('ends the successor when its asker disconnects', async () => {
      await start({ base: { beside: true, envWhenDirect: { UNREADY: '1' } } });
      await up();
      const { mark } = await state();
      const before = processOf(await state(), 'base');
      const client = new AbortController();
      const asked = up({ ...everything, direct: true }, client.signal).catch((error: Error) => error.name);
      const running = () => findLeftovers(childListFile(project, mark), mark);
      await until('both run', async () => (await running()).length === 2);
      client.abort();
      expect(await asked).toBe('AbortError');
      await until('one runs', async () => (await running()).length === 1);
      expect(processOf(await state(), 'base')).toEqual(before);
    });
  });

  describe('that an operator changes', () => {
    const spare = { service: 'base', isSpare: true };
    const shop = { top: { dependsOn: ['base'] }, 'base-1': spare, 'base-2': spare, 'base-3': spare };
    const scaled = { replicas: { base: 3 }, draining: [], onStandby: [], releases: {} };
    const operate = (request: OperationRequest, dryRun = false) =>
      createControlClient(project).operate(request, { dryRun, asked });
    const announced = async () =>
      parseUpstreams(await readFile(upstreamsFile(upstreamsFolder(project)), 'utf8')).edges['top-base']?.map(
        ({ instance, state: now, address }) => `${instance} ${now} ${address.split(':')[0]}`,
      );
    const scale = (base: number): OperationRequest => ({ kind: 'scale', replicas: { base } });
    const drain = (undo = false): OperationRequest => ({ kind: 'drain', instance: 'base-2', undo });
    const reroute = (via: 'standby' | 'primary'): OperationRequest => ({ kind: 'reroute', edge: 'top-base', via });
    const replicas = (count: number, address = '127.0.0.1') =>
      Array.from({ length: count }, (_, index) => `base-${index + 1} active ${address}`);

    it('scales up and down, restarts no caller, and a repeat changes nothing', async () => {
      await start(shop);
      await up();
      const before = processOf(await state(), 'top');
      expect(await operate(scale(3))).toMatchObject({ changed: true });
      expect(await announced()).toEqual(replicas(3));
      expect(await operate(scale(3))).toEqual({ changed: false, dryRun: false, steps: [] });
      const third = processOf(await state(), 'base-3');
      await operate(scale(1));
      expect(await announced()).toEqual(replicas(1));
      expect(await gone([third])).toBe(true);
      const { instances } = await state();
      expect(instances.map(({ name }) => name)).toEqual(['top', 'base-1']);
      expect(processOf(await state(), 'top')).toEqual(before);
      const { changes } = await readChanges(project);
      expect(
        changes.flatMap(({ kind, target, from, to }) => (kind === 'scale' ? `${target} ${from} ${to}` : [])),
      ).toEqual(['base 1 3', 'base 3 1']);
    });

    it('has the number of replicas again after a down, and one that up was given for that start only', async () => {
      await start(shop);
      await up();
      await operate(scale(2));
      await createControlClient(project).down({});
      await waitUntilGone(project, 5000);
      await start(shop);
      await up({ ...everything, replicas: { base: 3 } });
      expect(await announced()).toEqual(replicas(3));
      await createControlClient(project).down({});
      await waitUntilGone(project, 5000);
      await start(shop);
      await up();
      expect(await announced()).toEqual(replicas(2));
    });

    it('removes added replicas where one does not get ready, and is as before', async () => {
      await start({ ...shop, 'base-3': { ...spare, env: { CRASH_AT_START: '1' } } });
      await up();
      await expect(operate(scale(3))).rejects.toMatchObject({ code: 'instance_failed', what: 'base-3 is not ready' });
      expect(await announced()).toEqual(replicas(1));
      expect((await state()).instances.map(({ name }) => name)).toEqual(['top', 'base-1']);
      expect(await readOverrides(overridesFile(project))).toEqual(noOverrides);
    });

    it('drains a replica until that is undone, also over a restart of it', async () => {
      await writeOverrides(overridesFile(project), { ...scaled, replicas: { base: 2 } });
      await start(shop);
      await up();
      await operate(drain());
      const drained = [...replicas(1), 'base-2 draining 127.0.0.1'];
      expect(await announced()).toEqual(drained);
      await createControlClient(project).service('base-2', 'restart', asked);
      expect(await announced()).toEqual(drained);
      expect((await state()).instances.at(-1)).toMatchObject({ upstream: { state: 'draining' }, status: 'ready' });
      await operate(drain(true));
      expect(await announced()).toEqual(replicas(2));
    });

    it('says what it would do, and does nothing of it', async () => {
      await start(shop);
      await up();
      const before = await state();
      const { steps } = await operate(scale(2), true);
      expect(steps.map(({ action, targets }) => [action, ...targets])).toEqual([
        ['record', 'base'],
        ['start', 'base-2'],
        ['announce', 'base-2'],
      ]);
      const after = await state();
      const running = ({ instances }: PlatformState) => instances.map(({ name, process }) => [name, process?.pid]);
      expect(running(after)).toEqual(running(before));
      expect(after.replicas).toEqual(before.replicas);
    });

    it('drains a replica that takes messages from a queue, which has no callers', async () => {
      const worker = { service: 'worker', consumes: true };
      await start({ 'worker-1': worker, 'worker-2': worker });
      await up();
      const drained = (undo: boolean) => operate({ kind: 'drain', instance: 'worker-2', undo });
      const states = async () => (await state()).instances.map(({ name, upstream }) => `${name} ${upstream?.state}`);
      const written = async () =>
        parseUpstreams(await readFile(upstreamsFile(upstreamsFolder(project)), 'utf8')).edges['broker-worker']?.map(
          ({ instance, state: now }) => `${instance} ${now}`,
        );
      await drained(false);
      expect(await states()).toEqual(['worker-1 active', 'worker-2 draining']);
      expect(await written()).toEqual(await states());
      await expect(operate({ kind: 'drain', instance: 'worker-1', undo: false })).rejects.toMatchObject({
        code: 'invalid_drain',
      });
      await expect(operate({ kind: 'reroute', edge: 'broker-worker', via: 'standby' })).rejects.toMatchObject({
        code: 'unknown_edge',
      });
      await drained(true);
      expect(await written()).toEqual(['worker-1 active', 'worker-2 active']);
    });

    it.each([
      ['a service that is not there', { kind: 'scale', replicas: { bas: 2 } }, 'unknown_service'],
      ['no replicas', scale(0), 'invalid_scale'],
      ['more than there may be', scale(10), 'invalid_scale'],
      ['to drain the only replica', { kind: 'drain', instance: 'base-1', undo: false }, 'invalid_drain'],
      ['to drain what is not called', { kind: 'drain', instance: 'top', undo: false }, 'invalid_drain'],
      ['to drain what is not there', { kind: 'drain', instance: 'base', undo: false }, 'unknown_service'],
      ['another way on no edge', { kind: 'reroute', edge: 'base-top', via: 'standby' }, 'unknown_edge'],
    ] as const)('refuses %s', async (_, request, code) => {
      await start(shop);
      await up();
      await expect(operate(request)).rejects.toMatchObject({ code, exitCode: 2 });
      expect(await readOverrides(overridesFile(project))).toEqual(noOverrides);
    });

    it('refuses a scale that leaves only drained replicas, and another way where there is one only', async () => {
      await writeOverrides(overridesFile(project), { ...noOverrides, replicas: { base: 2 }, draining: ['base-1'] });
      await start(shop);
      await up({ ...everything, direct: true });
      await expect(operate(scale(1))).rejects.toMatchObject({ code: 'invalid_scale' });
      await expect(operate(reroute('standby'))).rejects.toMatchObject({ code: 'invalid_reroute' });
    });

    it('reroutes an edge, and back', async () => {
      await start(shop);
      await up();
      await operate(reroute('standby'));
      expect(await announced()).toEqual(replicas(1, '127.0.0.2'));
      expect(await operate(reroute('standby'))).toMatchObject({ changed: false });
      await operate(reroute('primary'));
      expect(await announced()).toEqual(replicas(1));
    });

    const drained = replicas(3).with(1, 'base-2 draining 127.0.0.1');
    it.each<[string, Overrides, OperationRequest, string[], string[]]>([
      ['scale up', noOverrides, scale(3), replicas(1), replicas(3)],
      ['scale down', scaled, scale(1), replicas(3), replicas(1)],
      ['drain', scaled, drain(), replicas(3), drained],
      ['drain that is undone', { ...scaled, draining: ['base-2'] }, drain(true), drained, replicas(3)],
      ['reroute', scaled, reroute('standby'), replicas(3), replicas(3, '127.0.0.2')],
      [
        'reroute back',
        { ...scaled, onStandby: ['top-base'] },
        reroute('primary'),
        replicas(3, '127.0.0.2'),
        replicas(3),
      ],
    ])(
      'is complete or undone after kill -9 between any two steps of a %s',
      { timeout: 120_000 },
      async (_, overrides, request, before, after) => {
        let step = 0;
        for (let isKilled = true; isKilled; ) {
          step += 1;
          await writeOverrides(overridesFile(project), overrides);
          await start(shop, { SHOPCTL_FAKE_KILL_AT: String(step) });
          await up();
          expect(await announced()).toEqual(before);
          isKilled = await operate(request).then(
            () => false,
            (error) => isGone(error) || Promise.reject(error),
          );
          if (isKilled) {
            await waitUntilGone(project, 5000);
            await start(shop);
            await up();
          }
          // What is on disk before the second step decides.
          const expected = step === 1 ? before : after;
          expect(await announced()).toEqual(expected);
          const running = (await state()).instances.filter(
            ({ service, status }) => service === 'base' && status === 'ready',
          );
          expect(running).toHaveLength(expected.length);
          await createControlClient(project).down({});
          await waitUntilGone(project, 5000);
        }
        expect(step).toBeGreaterThan(2);
      },
    );
  });

  it('applies to a component that goes on running what changed, and names it', async () => {
    await start({ store: { changes: ['migration orders/0009_new'] } });
    await up();
    const { pid } = processOf(await state(), 'store');
    expect(await up()).toMatchObject({ type: 'done', started: [], applied: ['migration orders/0009_new'] });
    expect(processOf(await state(), 'store').pid).toBe(pid);
  });

  it('replaces nothing where a component refuses what changed, and says why', async () => {
    await start({ store: { changes: ['refused: orders/0009_bad.sql'] }, base: {} });
    await up();
    const before = processOf(await state(), 'base');
    // `store` itself would be replaced with another configuration: only what goes on running is asked.
    expect(await up()).toMatchObject({
      type: 'failed',
      error: { code: 'change_refused', what: 'store refuses what changed', why: 'refused: orders/0009_bad.sql' },
    });
    expect(processOf(await state(), 'base')).toEqual(before);
  });

  it('wants nothing of an up that was refused', async () => {
    await start({ store: { changes: ['refused: orders/0009_bad.sql'] }, 'base-1': { service: 'base' } });
    await up();
    const { replicas } = await state();
    expect(await up({ ...everything, replicas: { base: 2 } })).toMatchObject({ error: { code: 'change_refused' } });
    expect((await state()).replicas).toEqual(replicas);
  });

  it('starts, restarts and adds nothing that is too old for its database, and what runs goes on', async () => {
    const tooOldWhile = join(home, 'too-old');
    await start({ 'base-1': { service: 'base', tooOldWhile }, 'base-2': { service: 'base', isSpare: true }, top: {} });
    await up();
    const before = processOf(await state(), 'base-1');
    await writeFile(tooOldWhile, '');
    const control = createControlClient(project);
    const refusal = { code: 'release_too_old', what: 'base is too old' };
    await expect(control.service('base', 'restart', asked)).rejects.toMatchObject(refusal);
    await expect(control.service('base-1', 'start', asked)).rejects.toMatchObject(refusal);
    await expect(
      control.operate({ kind: 'scale', replicas: { base: 2 } }, { dryRun: false, asked }),
    ).rejects.toMatchObject(refusal);
    expect(await up()).toMatchObject({ type: 'failed', error: refusal });
    expect(processOf(await state(), 'base-1')).toEqual(before);
    expect((await state()).instances.map(({ name }) => name)).toEqual(['base-1', 'top']);
    await control.service('top', 'restart', asked);
    await control.service('base', 'stop', asked);
  });

  it('leaves no child when the supervisor is killed with -9', async () => {
    // Without EXIT_WITH_PARENT in their environment the children do not notice it: the reaper must act.
    await start(twoServices);
    await up();
    const { instances, supervisor, reaper } = await state();
    process.kill(supervisor.pid, 'SIGKILL');
    const children = instances.map(({ process }) => process as ProcessIdentity);
    await until('children and reaper are gone', () => gone([...children, reaper as ProcessIdentity]));
  });

  it('replaces a reaper that was killed', async () => {
    await start(twoServices);
    await up();
    const { reaper } = await state();
    process.kill((reaper as ProcessIdentity).pid, 'SIGKILL');
    await until('another guards', async () => {
      const now = (await state()).reaper;
      return now !== undefined && now.pid !== reaper?.pid && (await isAlive(now));
    });
  });

  it('finds and ends at the next start what is left when supervisor and reaper are killed together', async () => {
    await start(twoServices);
    await up();
    const before = await state();
    const children = before.instances.map(({ process }) => process as ProcessIdentity);
    // The supervisor must not be able to replace the reaper first.
    process.kill(before.supervisor.pid, 'SIGSTOP');
    process.kill((before.reaper as ProcessIdentity).pid, 'SIGKILL');
    process.kill(before.supervisor.pid, 'SIGKILL');
    await until('supervisor is gone', () => gone([before.supervisor]));
    expect((await findLeftovers(childListFile(project, before.mark), before.mark)).length).toBe(2);
    await start(twoServices);
    expect(await gone(children)).toBe(true);
    expect(await up()).toMatchObject({ type: 'done', started: ['base', 'top'] });
  });

  it('leaves what it cannot stop to its reaper when it is asked to end', async () => {
    await start({ deaf: { cannotStop: true } });
    await up();
    const { supervisor, instances } = await state();
    process.kill(supervisor.pid, 'SIGTERM');
    await until('supervisor is gone', () => gone([supervisor]));
    await until('the child is gone', () => gone(instances.map(({ process }) => process as ProcessIdentity)));
  });

  it('leaves no socket when it is asked to end as soon as its socket is there', async () => {
    const supervisor = spawn(process.execPath, [program.file, 'fake'], {
      env: {
        ...process.env,
        ...guardMark(folder),
        SHOPCTL_HOME: home,
        SHOPCTL_FAKE: '{}',
        SHOPCTL_FAKE_END: 'SIGTERM',
      },
      stdio: 'ignore',
    });
    expect(await once(supervisor, 'exit')).toEqual([0, null]);
    expect(existsSync(project.socketPath)).toBe(false);
  });

  it('goes down although its faults cannot be ended', async () => {
    await start(twoServices, { SHOPCTL_FAKE_FAULTS: 'stuck' });
    await up();
    const { instances } = await state();
    await createControlClient(project).down({});
    await waitUntilGone(project, 5000);
    expect(await gone(instances.map(({ process }) => process as ProcessIdentity))).toBe(true);
  });

  it('goes down when its children can no longer be written down', async () => {
    await start(twoServices);
    await up();
    const { instances, mark } = await state();
    // A folder in the place of the list's draft: every write fails, as on a full disk.
    await mkdir(`${childListFile(project, mark)}.tmp`);
    await createControlClient(project).down({});
    await waitUntilGone(project, 5000);
    expect(await gone(instances.map(({ process }) => process as ProcessIdentity))).toBe(true);
    await rm(`${childListFile(project, mark)}.tmp`, { recursive: true });
  });

  it('lets no child live that it cannot write down', async () => {
    await start(twoServices);
    const { mark } = await state();
    await mkdir(`${childListFile(project, mark)}.tmp`);
    expect(await up()).toMatchObject({ type: 'failed', error: { why: expect.stringContaining('EISDIR') } });
    expect(await findLeftovers('', mark)).toEqual([]);
    await rm(`${childListFile(project, mark)}.tmp`, { recursive: true });
  });

  it('lets only one of two supervisors have a project', async () => {
    await Promise.all([start(twoServices), start(twoServices)]);
    await up();
    expect((await state()).instances).toHaveLength(2);
  });

  it('is started by a process that has ended where another one responds', async () => {
    await start(twoServices);
    const late = join(home, 'late');
    // It begins when the other one already responds, and finds only then that the project is taken.
    await startSupervisor({ project, env: process.env, command: ['/bin/sh', '-c', `sleep 0.3; : >${late}`] });
    expect(existsSync(late)).toBe(true);
  });

  it('does not begin later when its start was given up', async () => {
    const pid = join(home, 'pid');
    const command = ['/bin/sh', '-c', `echo $$ >${pid}.draft && mv ${pid}.draft ${pid}; exec sleep 60`] as const;
    const given = startSupervisor({ project, env: process.env, command, timeoutMs: 1_000 });
    await expect(given).rejects.toMatchObject({ code: 'supervisor_not_started', why: expect.stringContaining('1 s') });
    expect(await identifyProcess(Number(await readFile(pid, 'utf8')))).toBeUndefined();
  });

  it('ends when the up it was started for never comes', async () => {
    await start(twoServices);
    await waitUntilGone(project, 6000);
  });
});

describe('the change log', { timeout: 30_000 }, () => {
  async function recorded() {
    const { changes } = await readChanges(project);
    return changes.map(({ id: _, time, beganAt = '', ...change }) => {
      expect(beganAt <= time, `${change.kind} of ${change.target} began ${beganAt}, done ${time}`).toBe(true);
      expect(beganAt).not.toBe('');
      return change;
    });
  }
  const byAnna = { by: asked.by, reason: 'drill' };

  it('has what an operator asked for, with user and reason, across a down and an up; a crash is not a change', async () => {
    await start(twoServices);
    await up({ ...everything, asked });
    process.kill(processOf(await state(), 'base').pid, 'SIGKILL');
    await until('base runs again', async () => {
      const base = (await state()).instances.find(({ name }) => name === 'base');
      return base?.status === 'ready' && base.crashes === 1;
    });
    await createControlClient(project).service('base', 'restart', asked);
    await createControlClient(project).service('top', 'stop', asked);
    await createControlClient(project).service('top', 'stop', asked);
    await up({ ...everything, asked });
    await up({ ...everything, asked, direct: true });
    await createControlClient(project).down({ asked });
    await waitUntilGone(project, 5000);
    await start(twoServices);
    await up({ ...everything, asked });
    expect(await recorded()).toEqual([
      { kind: 'start', target: 'platform', from: 'stopped', to: 'ready', ...byAnna },
      { kind: 'restart', target: 'base', from: 'ready', to: 'ready', ...byAnna },
      { kind: 'stop', target: 'top', from: 'ready', to: 'stopped', ...byAnna },
      { kind: 'start', target: 'top', from: 'stopped', to: 'ready', ...byAnna },
      { kind: 'configuration', target: 'direct', from: 'false', to: 'true', ...byAnna },
      { kind: 'restart', target: 'base', from: 'ready', to: 'ready', ...byAnna },
      { kind: 'restart', target: 'top', from: 'ready', to: 'ready', ...byAnna },
      { kind: 'stop', target: 'platform', from: 'ready', to: 'stopped', ...byAnna },
      { kind: 'start', target: 'platform', from: 'stopped', to: 'ready', ...byAnna },
    ]);
  });

  it('has what failed too, with the code of the error', async () => {
    await start({ base: { envWhenDirect: { CRASH_AT_START: '1' } } });
    await up();
    await up({ ...everything, direct: true });
    const failed = { by: { user: 'unknown', source: 'unknown' }, failed: 'instance_failed' };
    expect((await recorded()).slice(1)).toEqual([
      { kind: 'configuration', target: 'direct', from: 'false', to: 'true', ...failed },
      { kind: 'restart', target: 'base', from: 'ready', to: 'failed', reason: 'its configuration changed', ...failed },
    ]);
  });

  it('has what was applied to components that went on running', async () => {
    await start({ base: { changes: ['migration orders/0007_refunds'] } });
    await up();
    await up({ ...everything, asked });
    expect((await recorded()).slice(1)).toEqual([
      { kind: 'migration', target: 'orders', from: null, to: '0007_refunds', ...byAnna },
    ]);
  });

  it('does not keep the platform from working where it cannot be written', async () => {
    await start(twoServices);
    await mkdir(join(project.stateDir, 'changes.jsonl'));
    expect(await up({ ...everything, asked })).toMatchObject({ type: 'done', state: { status: 'ready' } });
    const log = await readFile(join(project.logDir, 'supervisor.log'), 'utf8');
    expect(log).toContain('start platform: not recorded in');
  });

  it('is written before a down has its response, also where another request fails meanwhile', async () => {
    await start(twoServices);
    await up();
    const file = changeFile(project);
    await rm(file, { force: true });
    // A full pipe: what is written to it waits until it is read.
    execFileSync('mkfifo', [file]);
    await using pipe = await open(file, constants.O_RDWR | constants.O_NONBLOCK);
    const fill = async () => {
      for (;;) await pipe.write(Buffer.alloc(4096));
    };
    await expect(fill()).rejects.toMatchObject({ code: 'EAGAIN' });
    const down = createControlClient(project).down({ asked });
    await until('nothing runs', async () => (await state()).status === 'stopped');
    const failed = createControlClient(project).service('nothing', 'restart', asked);
    await expect(failed).rejects.toMatchObject({ code: 'unknown_service' });
    // A supervisor that ended because of it would not respond to all of these.
    for (let look = 0; look < 20; look += 1) expect(await state()).toMatchObject({ status: 'stopped' });
    await pipe.read(Buffer.alloc(4096 * 256));
    await down;
  });
});

describe('a supervisor whose socket is gone', () => {
  it('is distinguished from one that does not run, and the message names the way out', async () => {
    await start(twoServices);
    await up();
    await rm(project.socketPath);
    await expect(state()).rejects.toMatchObject({
      what: expect.stringMatching(/^the supervisor \(process \d+\) cannot be reached$/),
      next: expect.stringContaining('shopctl down'),
      exitCode: 4,
    });
    await endPlatform(project, { purge: false }, deps());
  });

  it('is taken down, and all that it runs', async () => {
    await start(twoServices);
    await up();
    const { instances, supervisor } = await state();
    await rm(project.socketPath);
    const ended = await endPlatform(project, { purge: false }, deps());
    expect(await gone([...instances.map(({ process }) => process as ProcessIdentity), supervisor])).toBe(true);
    expect(written).toContain('ending it by a signal');
    expect(ended.wasRunning).toBe(true);
  });
});

describe('after a power failure', () => {
  it('a torn state.json is reported, does not keep the platform from starting, and is written again', async () => {
    await start(twoServices);
    await up();
    await createControlClient(project).down({});
    await waitUntilGone(project, 5000);
    await truncate(project.stateFile, 0);
    await start(twoServices);
    expect(await up()).toMatchObject({ type: 'done', started: ['base', 'top'] });
    expect(await readFile(join(project.logDir, 'supervisor.log'), 'utf8')).toContain('state.json was torn');
    await until('the state is written', async () => (await readState(project.stateFile))?.status === 'ready');
  });

  it('children of a run whose state is lost are ended at the next start', async () => {
    await start(twoServices);
    await up();
    const { instances, supervisor, reaper } = await state();
    process.kill(supervisor.pid, 'SIGSTOP');
    process.kill((reaper as ProcessIdentity).pid, 'SIGKILL');
    process.kill(supervisor.pid, 'SIGKILL');
    await until('supervisor is gone', () => gone([supervisor]));
    await rm(project.stateFile);
    await start(twoServices);
    expect(await gone(instances.map(({ process }) => process as ProcessIdentity))).toBe(true);
  });
});

describe('a supervisor that is stopped (SIGSTOP)', () => {
  async function stopped(): Promise<PlatformState> {
    await start(twoServices);
    await up();
    const before = await state();
    process.kill(before.supervisor.pid, 'SIGSTOP');
    return before;
  }

  it('is distinguished from one that responds, and the message names the way out', async () => {
    const { supervisor } = await stopped();
    const response = createControlClient(project, 300).state();
    await expect(response).rejects.toMatchObject({
      code: 'supervisor_unresponsive',
      next: expect.stringContaining('shopctl down'),
    });
    process.kill(supervisor.pid, 'SIGCONT');
  });

  it('is killed by its pid, and its reaper ends what it ran', async () => {
    const before = await stopped();
    await signalSupervisor(project, 'SIGKILL');
    await waitUntilGone(project, 5000);
    await until(
      'no child left',
      async () => !(await isAlive(processOf(before, 'base'))) && !(await isAlive(processOf(before, 'top'))),
    );
  });
});
