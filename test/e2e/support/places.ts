/** Copies of this clone in awkward places, and what shows that the platform runs from one. */
import { cp, lstat, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { cloneRoot } from '../../../cli/src/platform/project.ts';
import { openShell, type ShellOptions } from './cli-run.ts';

const NOT_COPIED = new Set(['node_modules', '.git', '.shop', 'test', 'docs']);

export interface Places {
  /** Of the current test. */
  folder(): string;
  /** Runs before the folder goes, the last one first. */
  cleanUp(work: () => Promise<unknown>): void;
  /** Copies this clone; files keep their times, so that nothing is built again. */
  copyClone(...path: string[]): Promise<string>;
  /** `up`, one order, `down`; nothing may be left. */
  works(options: ShellOptions): Promise<void>;
}

/** A folder for each test of the file. */
export function usePlaces(): Places {
  let folder: string;
  const cleanUps: (() => Promise<unknown>)[] = [];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'shop-place-'));
  });
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
    await rm(folder, { recursive: true, force: true });
  });
  return {
    folder: () => folder,
    cleanUp: (work) => void cleanUps.push(work),
    async copyClone(...path) {
      const root = join(folder, ...path);
      await mkdir(root, { recursive: true });
      await cp(cloneRoot(), root, {
        recursive: true,
        preserveTimestamps: true,
        filter: (source) => !NOT_COPIED.has(basename(source)),
      });
      await symlink(join(cloneRoot(), 'node_modules'), join(root, 'node_modules'));
      return root;
    },
    async works(options) {
      const home = join(options.root as string, '.shop');
      const shell = await openShell({ ...options, home });
      cleanUps.push(() => shell.run('down', '--volumes'));
      const up = await shell.run('up', '--no-build');
      expect(up.code, up.stderr).toBe(0);
      const order = await shell.run('order', 'place', '--json');
      expect(order.code, order.stderr).toBe(0);
      expect(order.stdout).toContain('Confirmed');
      expect((await lstat(home)).mode & 0o777).toBe(0o700);
      const down = await shell.run('down');
      expect(down.code, down.stderr).toBe(0);
      expect(shell.processes()).toEqual([]);
      expect(shell.sockets('shop')).toEqual([]);
    },
  };
}
