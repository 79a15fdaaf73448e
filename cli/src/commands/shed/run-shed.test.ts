import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CommandDeps } from '../../command-context.ts';
import { createOutput } from '../../output/output.ts';
import { admissionFile, admissionFolder } from '../../platform/admission-file.ts';
import { readChanges } from '../../platform/change-log.ts';
import { openProject } from '../../platform/project.ts';
import { runShed } from './run-shed.ts';

let home: string;
let printed: string;
let deps: CommandDeps;
const project = () => deps.projectFrom({});
const file = () => admissionFile(admissionFolder(project()));

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'shop-shed-'));
  const env = { SHOPCTL_HOME: home, NO_COLOR: '1' };
  const stdout = {
    write(text: string) {
      printed += text;
    },
  };
  const output = createOutput({ stdout, stderr: { write: () => undefined }, env });
  deps = { output, projectFrom: () => openProject('shop', '/clone', env) } as unknown as CommandDeps;
});
afterEach(() => rm(home, { recursive: true }));

async function shed(...[percent, options = {}]: [number?, Parameters<typeof runShed>[1]?]): Promise<string> {
  printed = '';
  await runShed(percent, options, deps);
  return printed.trimEnd();
}

describe('shopctl shed', () => {
  it('sheds nothing at first, then the share that was set last, until 0', async () => {
    expect(await shed()).toBe('no order is shed');
    expect(await shed(30)).toBe('30 % of the new orders are shed: 503 order_shed; the gateway follows within a second');
    expect(JSON.parse(await readFile(file(), 'utf8'))).toEqual({ shedPercent: 30 });
    expect(await shed()).toBe('30 % of the new orders are shed: 503 order_shed');
    expect(await shed(30)).toBe('30 % of the new orders are shed: 503 order_shed already');
    expect(await shed(0)).toBe('no order is shed; the gateway follows within a second');
  });

  it('is recorded with its reason; a repeat is not', async () => {
    await shed(30, { reason: 'sale' });
    await shed(30);
    await shed(0);
    expect((await readChanges(project())).changes).toMatchObject([
      { kind: 'shed', target: 'gateway', from: '0 %', to: '30 %', reason: 'sale', by: { source: 'command line' } },
      { kind: 'shed', target: 'gateway', from: '30 %', to: '0 %' },
    ]);
  });

  it('changes nothing in a dry run', async () => {
    expect(await shed(30, { dryRun: true })).toBe('would change from 0 % to 30 %');
    expect(await shed()).toBe('no order is shed');
    expect((await readChanges(project())).changes).toEqual([]);
  });

  it('keeps its file for this user alone', async () => {
    await shed(30);
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    expect((await stat(project().stateDir)).mode & 0o777).toBe(0o700);
  });

  it('does not write over a file that it cannot read', async () => {
    await shed(30);
    await writeFile(file(), '{"half');
    await expect(shed(10)).rejects.toMatchObject({ code: 'state_unreadable' });
    expect(await readFile(file(), 'utf8')).toBe('{"half');
  });
});
