import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { CommandDeps } from '../../command-context.ts';
import { createOutput } from '../../output/output.ts';
import { cloneRoot, openProject, type Project } from '../../platform/project.ts';
import { type LogsOptions, runLogs } from './run-logs.ts';

const TRACE = 'abcdef0123456789abcdef0123456789';
const record = {
  level: 'info',
  time: '2026-01-01T00:00:00.000Z',
  service: 'orders',
  instance: 'orders-1',
  msg: 'placed',
};
const traced = { ...record, time: '2026-01-01T00:00:01.000Z', msg: 'charged', trace_id: TRACE };

let home: string;
let project: Project;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'shop-logs-'));
  project = openProject('logs', cloneRoot(), { SHOPCTL_HOME: home });
  await mkdir(project.logDir, { recursive: true });
  await writeFile(join(project.logDir, 'orders-1.log'), `${JSON.stringify(record)}\n${JSON.stringify(traced)}\n`);
});
afterEach(() => rm(home, { recursive: true }));

/** What `shopctl logs` writes to a terminal, or to something else. */
async function logs(isTTY: boolean, options: LogsOptions = {}): Promise<readonly string[]> {
  let written = '';
  const stdout = {
    isTTY,
    write(text: string) {
      written += text;
    },
  };
  const output = createOutput({ stdout, stderr: { write: () => true }, env: { NO_COLOR: '1' } });
  const deps = { output, signal: AbortSignal.any([]), projectFrom: () => project } as unknown as CommandDeps;
  await runLogs([], options, deps);
  return written.trimEnd().split('\n');
}

const pretty = 'orders-1 00:00:00.000 INFO  placed';

it('writes lines for people on a terminal, and JSON elsewhere', async () => {
  expect((await logs(true))[0]).toBe(pretty);
  expect((await logs(false)).map((line) => JSON.parse(line))).toEqual([record, traced]);
});

it('writes what is asked for, wherever it is read', async () => {
  expect((await logs(false, { pretty: true }))[0]).toBe(pretty);
  expect(JSON.parse((await logs(true, { pretty: false }))[0] as string)).toEqual(record);
});

it('finds the lines of a trace by the beginning of its id', async () => {
  const found = await logs(false, { trace: TRACE.slice(0, 6).toUpperCase() });
  expect(found.map((line) => JSON.parse(line))).toEqual([traced]);
});
