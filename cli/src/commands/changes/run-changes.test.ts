import { appendFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { CommandDeps } from '../../command-context.ts';
import { createOutput } from '../../output/output.ts';
import { type Change, type ChangeKind, changeFile, createChangeLog } from '../../platform/change-log.ts';
import { openProject, type Project } from '../../platform/project.ts';
import { type ChangesOptions, runChanges } from './run-changes.ts';

let home: string;
let project: Project;
let minute: number;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'shop-changes-'));
  project = openProject('shop', '/clone', { SHOPCTL_HOME: home });
  minute = 0;
});
afterEach(() => rm(home, { recursive: true }));

const now = () => new Date(`2026-11-23T10:0${minute}:00.000Z`);
const by = { user: 'anna', source: 'command line' } as const;

/** Recorded one minute after the one before. */
async function change(kind: ChangeKind, target: string, more: Partial<Change> = {}): Promise<void> {
  minute += 1;
  const log = createChangeLog(project, (problem) => expect.fail(problem), { now });
  await log.append({ kind, target, from: 'ready', to: 'ready', by, ...more });
}

/** What the command writes; `follows` ends it when it has written so many lines. */
async function run(
  options: ChangesOptions = {},
  follows?: { lines: number; meanwhile(): Promise<void> },
  terminal: { isTTY?: boolean; columns?: number } = {},
) {
  const over = new AbortController();
  let written = '';
  let warned = '';
  const stdout = {
    ...terminal,
    write(text: string) {
      written += text;
      if (follows && written.split('\n').length > follows.lines) over.abort();
    },
  };
  const stderr = {
    write(text: string) {
      warned += text;
    },
  };
  const output = createOutput({ stdout, stderr, env: { NO_COLOR: '1' } });
  if (options.json) output.use('json');
  const deps = { output, signal: over.signal, projectFrom: () => project } as unknown as CommandDeps;
  const running = runChanges(options, deps).catch((error: unknown) => {
    if (!over.signal.aborted) throw error;
  });
  await follows?.meanwhile();
  await running;
  return { written: written.trimEnd(), warned };
}

it('shows who changed what, when, from what to what, and why; the newest last', async () => {
  await change('flag', 'publish-order-confirmed-v2', { from: 'off', to: 'on', reason: 'sale' });
  await change('migration', 'orders', { from: null, to: '0007_refunds' });
  await change('restart', 'orders', { to: 'failed', failed: 'instance_failed' });
  expect((await run()).written.split('\n')).toEqual([
    'TIME (UTC)           KIND       TARGET                      FROM -> TO                                 BY                   REASON',
    '2026-11-23 10:01:00  flag       publish-order-confirmed-v2  off -> on                                  anna (command line)  sale',
    '2026-11-23 10:02:00  migration  orders                      (none) -> 0007_refunds                     anna (command line)',
    '2026-11-23 10:03:00  restart    orders                      ready -> failed (failed: instance_failed)  anna (command line)',
  ]);
  await change('dead-letter', 'message-1', { to: 'discarded', orderId: 'order-1' });
  expect((await run({ kind: ['dead-letter'] })).written).toContain('message-1 (order order-1)  ready -> discarded');
});

it('is as wide as the terminal: what does not fit has several lines', async () => {
  await change('restart', 'orders');
  const narrow = { isTTY: true, columns: 80 };
  const table = (await run({}, undefined, { isTTY: true, columns: 81 })).written;
  expect(table.split('\n')[1]).toBe('2026-11-23 10:01:00  restart  orders  ready -> ready  anna (command line)');
  await change('dead-letter', '7c9e6679-7425-40de-944b-e07fc1f90ae7', {
    from: 'shipping.dead-letters',
    to: 'shipping.order-confirmed',
    orderId: 'b8d2fc1e-3f5d-4e15-9f6a-0c3a4f9f2b11',
    reason: 'shipping was corrected, and each of the letters was looked at before that',
  });
  const { written } = await run({}, undefined, narrow);
  expect(written.split('\n')).toEqual([
    '2026-11-23 10:01:00  restart  orders: ready -> ready',
    '    by anna (command line)',
    '2026-11-23 10:02:00  dead-letter  7c9e6679-7425-40de-944b-e07fc1f90ae7',
    '    (order b8d2fc1e-3f5d-4e15-9f6a-0c3a4f9f2b11): shipping.dead-letters ->',
    '    shipping.order-confirmed',
    '    by anna (command line): shipping was corrected, and each of the letters was',
    '    looked at before that',
  ]);
  const meanwhile = () => change('migration', 'orders', { from: null, to: '0007_refunds', reason: 'refunds' });
  const followed = (await run({ follow: true }, { lines: 8, meanwhile }, narrow)).written.split('\n');
  expect(followed.slice(-2)).toEqual([
    '2026-11-23 10:03:00  migration  orders: (none) -> 0007_refunds',
    '    by anna (command line): refunds',
  ]);
  expect(Math.max(...followed.map((line) => line.length))).toBeLessThanOrEqual(80);
  // Programs have one line a change.
  expect((await run()).written.split('\n')).toHaveLength(4);
});

it('has the same as JSON', async () => {
  await change('restart', 'orders');
  expect(JSON.parse((await run({ json: true })).written)).toEqual({
    changes: [
      {
        id: expect.stringMatching(/^[0-9a-f]{8}$/),
        time: '2026-11-23T10:01:00.000Z',
        kind: 'restart',
        target: 'orders',
        from: 'ready',
        to: 'ready',
        by,
      },
    ],
    unreadable: [],
  });
});

it('selects by kind and time, and shows the newest only', async () => {
  for (const target of ['a', 'b', 'c']) await change('restart', target);
  await change('flag', 'd');
  const targets = async (options: ChangesOptions) =>
    JSON.parse((await run({ ...options, json: true })).written).changes.map(({ target }: Change) => target);
  expect(await targets({ kind: ['restart'] })).toEqual(['a', 'b', 'c']);
  expect(await targets({ since: Date.parse('2026-11-23T10:03:00Z') })).toEqual(['c', 'd']);
  expect(await targets({ tail: 1 })).toEqual(['d']);
  expect(await targets({ tail: 0 })).toEqual([]);
});

it('says so where there is none, or none of that kind', async () => {
  expect((await run()).written).toBe('nothing was changed yet');
  await change('restart', 'a');
  expect((await run({ kind: ['flag'] })).written).toBe('none of 1 changes is shown with these options');
});

it('warns of a line that was cut off', async () => {
  await change('restart', 'a');
  await appendFile(changeFile(project), '{"id"');
  const { written, warned } = await run();
  expect(written).toContain('restart');
  expect(warned).toContain('changes.jsonl:2 is not a change: it was cut off');
});

it('reports a file that cannot be read', async () => {
  await mkdir(changeFile(project), { recursive: true });
  await expect(run()).rejects.toMatchObject({ code: 'state_unreadable', what: 'the change log cannot be read' });
});

it('goes on with new ones, also where the file is rotated meanwhile', async () => {
  await change('restart', 'a');
  const small = createChangeLog(project, (problem) => expect.fail(problem), { maxBytes: 1, now });
  const follows = {
    lines: 2,
    meanwhile: () => small.append({ kind: 'flag', target: 'b', from: 'off', to: 'on', by }),
  };
  const lines = (await run({ follow: true, json: true }, follows)).written.split('\n');
  expect(lines.map((line) => JSON.parse(line).target)).toEqual(['a', 'b']);
});
