/** Faults on a platform under test: injected and held by the built command, and the look that nothing of them is left. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, type TestContext } from 'vitest';
import { createChaosClient } from '../../../cli/src/chaos/chaos-client.ts';
import type { Lease } from '../../../cli/src/chaos/lease.ts';
import { createToxiproxyClient } from '../../../cli/src/chaos/toxiproxy-client.ts';
import type { TestPlatform } from '../../support/platform.ts';
import { place } from './client.ts';
import { eventually } from './eventually.ts';

/** What follows `chaos inject`. */
export type Words = readonly [target: string, fault: string, ...options: string[]];

/** Breakers are open for 5 s, a restarted service needs its connections. */
const CONFIRMED_MS = 20_000;

export async function inject(platform: TestPlatform, words: Words): Promise<{ code: number; lease: Lease }> {
  const { code, stdout, stderr } = await platform.shopctl('chaos', 'inject', ...words, '--json');
  expect(stdout, stderr).not.toBe('');
  return { code, lease: JSON.parse(stdout) as Lease };
}

/** What `chaos status` shows, from where it has it: it is asked for again and again, and a command takes 300 ms. */
export async function activeFaults({ project }: TestPlatform): Promise<readonly Lease[]> {
  return (await createChaosClient(project).list()).filter(({ status }) => status !== 'reverted');
}

/** Nothing is active, on disk or in Toxiproxy, and an order is confirmed. */
export async function expectClean(platform: TestPlatform): Promise<void> {
  expect(await activeFaults(platform)).toEqual([]);
  expect(await readFile(join(platform.project.stateDir, 'chaos', 'undo.jsonl'), 'utf8')).toBe('');
  const { toxiproxyUrl } = await platform.state();
  for (const { name, enabled, toxics } of await createToxiproxyClient(toxiproxyUrl as string).proxies()) {
    expect({ name, enabled, toxics }).toEqual({ name, enabled: true, toxics: [] });
  }
  expect(await platform.armed()).toEqual([]);
  await eventually('an order to be confirmed', { withinMs: CONFIRMED_MS }, async () => {
    return (await place(platform)).status === 201;
  });
}

/**
 * After each test: reverts what a failed one has left, and starts what it has ended, so that one failure stays one. One that
 * has passed has left nothing.
 */
export async function recoverFrom({ result }: TestContext['task'], platform: TestPlatform): Promise<void> {
  if (result?.state !== 'fail') return;
  // Ends with 6 where a fault is reverted only by the next start.
  await platform.shopctl('chaos', 'clear', '--all');
  expect(await platform.shopctl('up', '--no-build')).toMatchObject({ code: 0 });
}

export interface Holder {
  readonly child: ChildProcess;
  readonly lease: Lease;
  readonly ended: Promise<number | null>;
}

/** A command that stays attached; resolves when its fault is in effect. */
export async function hold(platform: TestPlatform, words: Words): Promise<Holder> {
  const args = ['chaos', 'inject', ...words, '--hold', '--json', '--project', platform.project.name];
  const child = spawn(join(platform.project.root, 'cli/bin/shopctl'), args, {
    env: { ...process.env, SHOPCTL_HOME: dirname(platform.project.stateDir), NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  for await (const line of createInterface({ input: child.stdout as NonNullable<typeof child.stdout> })) {
    return { child, lease: JSON.parse(line) as Lease, ended };
  }
  throw new Error(`chaos inject ${words.join(' ')} ended with ${await ended} and said nothing`);
}
