import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cloneRoot, openProject } from '../../cli/src/platform/project.ts';
import { startGuard } from '../support/guard.ts';
import { rotated, type Summary, summarize } from './rounds.ts';
import { findStockBroker } from './stock-broker.ts';

const run = promisify(execFile);

/** What `up` may take at most, of what RabbitMQ's own start script takes alone: with data there, and without. */
export const UP_LIMITS = { warm: 0.8, cold: 1.3 } as const;

/** Times in ms, from the command's start to its end, as its user waits. */
export interface StartTimes {
  /** The broker that was started by its script. */
  readonly broker: string;
  readonly script: Summary;
  readonly warm: Summary;
  readonly cold: Summary;
}

/**
 * Measures, in an order that rotates: RabbitMQ's own start script alone until the broker greets, `up` with data there, and
 * `up` without data. Each with services, databases and broker stopped before. Side effects: a project `bench` in a
 * temporary folder, removed at the end, also when this process is killed.
 */
export async function measureStarts({ rounds, say }: { rounds: number; say(line: string): void }): Promise<StartTimes> {
  const root = cloneRoot();
  const folder = await mkdtemp(join(tmpdir(), 'shop-bench-'));
  const env = { ...process.env, SHOPCTL_PROBE: 'off', SHOPCTL_HOME: folder, NO_COLOR: '1' };
  const program = join(root, 'cli/bin/shopctl');
  await using _ = startGuard(folder, [program, 'down', '--volumes', '--project', 'bench'], env);
  const shopctl = (...args: string[]) => run(program, [...args, '--project', 'bench'], { env });
  const timeUp = async () => {
    const began = performance.now();
    await shopctl('up', '--no-build');
    return performance.now() - began;
  };
  const { cacheDir } = openProject('bench', root, env);
  const broker = await findStockBroker(folder, cacheDir);
  const measured = { script: [] as number[], warm: [] as number[], cold: [] as number[] };
  const kinds = {
    async script() {
      measured.script.push(await broker.measure());
    },
    async warm() {
      measured.warm.push(await timeUp());
      await shopctl('down');
    },
    async cold() {
      await shopctl('down', '--volumes');
      measured.cold.push(await timeUp());
      await shopctl('down');
    },
  };

  // One start of each that does not count: compile caches, page cache, the broker's first data directory.
  await broker.measure();
  await shopctl('up');
  await shopctl('down');
  for (let round = 0; round < rounds; round++) {
    say(`round ${round + 1} of ${rounds}`);
    for (const kind of rotated(['script', 'warm', 'cold'] as const, round)) await kinds[kind]();
  }
  return {
    broker: broker.detail,
    script: summarize(measured.script),
    warm: summarize(measured.warm),
    cold: summarize(measured.cold),
  };
}
