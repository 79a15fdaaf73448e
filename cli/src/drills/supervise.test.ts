/*
 * Goal: the routes of a drill do what they say, and what they say is the same with a failure and without one, until the round is over.
 * Method: a supervisor's extension on a shop that is a fake, with separate files; time is that of the timers.
 */

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { FaultOwner } from '../chaos/supervise.ts';
import type { PagerEvent } from '../pager/page-event.ts';
import { currentRoundFile } from '../platform/current-round.ts';
import { createEventLog } from '../platform/events.ts';
import { cloneRoot, openProject, type Project } from '../platform/project.ts';
import type { SupervisorExtension } from '../platform/supervisor-extension.ts';
import { readDrillJournal } from './journal/journal-file.ts';
import { recordsOf } from './journal/records.ts';
import type { ShownRound, StartRequest } from './requests.ts';
import { journalOf } from './rounds.ts';
import { type DrillContext, openDrills } from './supervise.ts';
import { FakeShop } from './testing/fake-shop.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'shop-drills-'));
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'],
    now: Date.UTC(2026, 0, 1, 12),
  });
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
});
afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  await rm(home, { recursive: true, force: true });
});

/** A supervisor with a fake shop. */
async function aSupervisor(name = 'shop') {
  const project = openProject(name, cloneRoot(), { SHOPCTL_HOME: home });
  const events = createEventLog();
  const shop = new FakeShop();
  const listeners = new Set<(event: PagerEvent) => void>();
  let owner: FaultOwner | undefined;
  let audits = 0;
  const faults: { fault: string; target: string }[] = [];
  const url = 'http://127.0.0.1:9';
  const prometheus = { name: 'prometheus', service: 'prometheus', status: 'ready', url };
  const state = { status: 'ready', replicas: {}, instances: [prometheus], faults: [] };
  const alerts: { alert: { labels: { alertname: string; severity: string } }; silencedBy: string[] }[] = [];
  const context = {
    project,
    events,
    state: () => state,
    env: {},
    onChange: () => undefined,
    chaos: {
      faults: () => faults,
      setOwner(wanted: FaultOwner | undefined) {
        owner = wanted;
      },
    },
    deploys: { unavailable: () => undefined },
    pager: {
      follow(listener: (event: PagerEvent) => void) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      alerts: () => alerts,
    },
    auditRecent: () => {
      audits++;
      return () => void audits--;
    },
  } as unknown as DrillContext;
  const drills = await openDrills(context, () => shop);
  return {
    project,
    events,
    shop,
    faults,
    alerts,
    state,
    drills,
    owner: () => owner,
    audits: () => audits,
    say: (event: Partial<PagerEvent>) => {
      for (const listener of listeners) listener(event as PagerEvent);
    },
  };
}

const request: StartRequest = { level: 2, limitMs: 300_000, hints: true, trainee: 'ada', scenario: 'd201', seed: '7' };

async function ask<T = ShownRound>(drills: SupervisorExtension, route: string, body: unknown = {}): Promise<T> {
  let text = '';
  const response = {
    writeHead: () => undefined,
    end(written: string) {
      text = written;
    },
  };
  const sent = Readable.from([JSON.stringify(body)]);
  const isHandled = await drills.handle(route, sent as IncomingMessage, response as unknown as ServerResponse);
  if (!isHandled) throw new Error(`${route} belongs to another extension`);
  return JSON.parse(text) as T;
}

const post = <T = ShownRound>(drills: SupervisorExtension, name: string, body: unknown = {}) =>
  ask<T>(drills, `POST /v1/drill/${name}`, body);

/** Time passes, and files are written meanwhile. */
async function seconds(count: number): Promise<void> {
  for (let second = 0; second < count; second++) {
    await vi.advanceTimersByTimeAsync(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The result of what needs time to pass. */
async function later<T>(work: Promise<T>): Promise<T> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  done.catch(() => undefined); // Given to the caller below.
  while (!isDone) await seconds(1);
  return done;
}

const end = (drills: SupervisorExtension) => later(post(drills, 'end', { why: 'gave-up', by: 'ada' }));

describe('a round', () => {
  it('begins with its commitment, and holds faults, runs and the audit until it is over', async () => {
    const { drills, project, events, owner, audits } = await aSupervisor();
    const started = await post(drills, 'start', request);
    expect(started).toMatchObject({ phase: 'starting', level: 2, commitment: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(await readFile(currentRoundFile(project), 'utf8')).toBe(started.id);
    expect([owner()?.refusal().code, audits()]).toEqual(['drill_running', 1]);
    await expect(post(drills, 'start', request)).rejects.toMatchObject({ code: 'drill_running' });
    const over = await end(drills);
    expect(over).toMatchObject({ ended: { why: 'gave-up' }, left: [], hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect([owner(), audits()]).toEqual([undefined, 0]);
    await expect(readFile(currentRoundFile(project))).rejects.toThrow('ENOENT');
    expect(events.recent().map(({ type }) => type)).toEqual(['drill.started', 'drill.ended']);
    expect(await ask(drills, 'GET /v1/drill')).toEqual(over);
  });

  it('has pages, looks, peeks and texts in its journal', async () => {
    const { drills, project, owner, say } = await aSupervisor();
    const { id } = await post(drills, 'start', request);
    say({ type: 'notified', alertname: 'OrdersErrorBudgetBurn', severity: 'page' } as Partial<PagerEvent>);
    say({ type: 'fired', alertname: 'DeadLetters', severity: 'ticket' } as Partial<PagerEvent>);
    say({ type: 'notified', alertname: 'ErrorBudgetSpent', severity: 'ticket' } as Partial<PagerEvent>);
    say({
      type: 'acknowledged',
      alertname: 'OrdersErrorBudgetBurn',
      severity: 'page',
      by: 'ada',
    } as Partial<PagerEvent>);
    await post(drills, 'look', { source: 'logs' });
    owner()?.onLook();
    await post(drills, 'declare', { text: 'orders fail', by: 'ada' });
    await end(drills);
    const { records } = await readDrillJournal(journalOf(project, id));
    expect(recordsOf(records, 'page').map(({ alert, state }) => `${alert} ${state}`)).toEqual([
      'OrdersErrorBudgetBurn firing',
      'DeadLetters firing',
    ]);
    expect(recordsOf(records, 'ack')).toMatchObject([{ by: 'ada' }]);
    expect(recordsOf(records, 'look')).toMatchObject([{ source: 'logs' }]);
    expect(recordsOf(records, 'peek')).toMatchObject([{ where: 'chaos' }]);
    expect(recordsOf(records, 'declare')).toMatchObject([{ text: 'orders fail' }]);
  });

  it('says what a hint costs before it gives it', async () => {
    const { drills } = await aSupervisor();
    await post(drills, 'start', request);
    expect(await post<unknown>(drills, 'hint', { take: false })).toEqual({ stage: 'detect', cost: 3 });
    expect(await post<unknown>(drills, 'hint', { take: true })).toMatchObject({
      stage: 'detect',
      text: expect.any(String),
    });
    expect(await ask(drills, 'GET /v1/drill')).toMatchObject({ hintPoints: 3 });
    await end(drills);
  });

  it('ends with the platform, and is aborted then', async () => {
    const { drills, shop } = await aSupervisor();
    await post(drills, 'start', request);
    await later(drills.end());
    expect((await ask(drills, 'GET /v1/drill')).ended).toEqual({ why: 'aborted', reason: 'the platform ends' });
    expect(shop.done.at(-1)).toBe('restore');
  });
});

describe('a round does not begin', () => {
  it('while a fault of a command acts, which is named', async () => {
    const { drills, faults } = await aSupervisor();
    faults.push({ fault: 'latency', target: 'orders-stock' });
    await expect(post(drills, 'start', request)).rejects.toMatchObject({
      code: 'drill_not_started',
      why: 'active: latency on orders-stock',
    });
  });

  it('while a ticket of an earlier one is open; a page may still be resolved in time', async () => {
    const { drills, alerts } = await aSupervisor();
    const alert = (alertname: string, severity: string) => ({
      alert: { labels: { alertname, severity } },
      silencedBy: [],
    });
    alerts.push(alert('ErrorBudgetSpent', 'ticket'), alert('ShipmentsLateBudgetBurn', 'ticket'));
    await expect(post(drills, 'start', request)).rejects.toMatchObject({
      code: 'drill_not_started',
      why: 'open: ShipmentsLateBudgetBurn, which looks back for minutes',
    });
    const silenced = { ...alert('ShipmentsLateBudgetBurn', 'ticket'), silencedBy: ['1'] };
    alerts.splice(0, alerts.length, alert('ErrorBudgetSpent', 'ticket'), alert('OutboxStalled', 'page'), silenced);
    expect((await post(drills, 'start', request)).ended).toBeUndefined();
    await later(drills.end());
  });

  it('without alerts, or with an unknown scenario', async () => {
    const { drills, state } = await aSupervisor();
    await expect(post(drills, 'start', { ...request, scenario: 'd299' })).rejects.toMatchObject({ exitCode: 2 });
    state.instances.length = 0;
    await expect(post(drills, 'start', request)).rejects.toMatchObject({ code: 'alerts_off', exitCode: 3 });
  });
});

it('has no round before the first, and leaves other routes to others', async () => {
  const { drills } = await aSupervisor();
  await expect(ask(drills, 'GET /v1/drill')).rejects.toMatchObject({ code: 'no_drill' });
  await expect(post(drills, 'note', { text: 'x', by: 'ada' })).rejects.toMatchObject({ code: 'no_drill' });
  await expect(ask(drills, 'GET /v1/chaos')).rejects.toThrow('another extension');
});

it('closes the journal of a round whose supervisor was killed, as void', async () => {
  const { drills, project } = await aSupervisor();
  await post(drills, 'start', request);
  const id = await readFile(currentRoundFile(project), 'utf8');
  await seconds(3);
  // Another supervisor of the project, while this one says nothing any more: it was killed.
  const copy = join(home, 'killed.jsonl');
  await writeFile(copy, await readFile(journalOf(project, id)));
  await end(drills);
  await writeFile(journalOf(project, id), await readFile(copy));
  await writeFile(currentRoundFile(project), id);
  await aSupervisor();
  const { records } = await readDrillJournal(journalOf(project, id));
  expect(recordsOf(records, 'end')).toMatchObject([{ why: 'void' }]);
  expect(recordsOf(records, 'reveal')).toEqual([]);
  await expect(readFile(currentRoundFile(project))).rejects.toThrow('ENOENT');
});

/** Everything that a round has said by then: responses, events, files. Ids, digests and times are those of each round. */
async function saidBy(scenario: string, until: number): Promise<string> {
  const { drills, events, project, shop } = await aSupervisor(scenario);
  const { id, commitment } = await post(drills, 'start', { ...request, level: 3, scenario });
  const said: unknown[] = [];
  for (let second = 0; second < until; second++) {
    await seconds(1);
    said.push(await ask(drills, 'GET /v1/drill'));
    // Customers notice what is injected; everything else has to be the same.
    shop.isCured = true;
  }
  said.push(await post(drills, 'note', { text: 'looking', by: 'ada' }));
  said.push(await post<unknown>(drills, 'hint', { take: false }));
  said.push(events.recent().map(({ type, subject, message }) => ({ type, subject, message })));
  said.push(await filesOf(project));
  await end(drills);
  const text = JSON.stringify(said);
  return text.replaceAll(commitment, 'COMMITMENT').replaceAll(id, 'ID').replaceAll(scenario, 'PROJECT');
}

async function filesOf(project: Project): Promise<readonly (readonly [string, string])[]> {
  const names = await readdir(project.stateDir, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile() && entry.name !== 'run.lock');
  return Promise.all(
    files.map(async ({ parentPath, name }) => {
      const text = await readFile(join(parentPath, name), 'utf8');
      return [name, text.replaceAll(/"hash":"[0-9a-f]+"/g, '"hash":"HASH"')] as const;
    }),
  );
}

it.each([
  ['before anything is injected', 12],
  ['while the failure acts', 130],
])('says the same with a failure and without one, %s', async (_when, until) => {
  const without = await saidBy('d000', until);
  vi.setSystemTime(Date.UTC(2026, 0, 1, 12));
  expect(await saidBy('d301', until)).toBe(without);
});
