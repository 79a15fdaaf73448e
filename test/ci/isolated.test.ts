/* Goal: no test file replaces modules in a process that it shares. Method: the files that Vitest finds for `units`, and their text. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { cloneRoot } from '../../cli/src/platform/project.ts';

it('a file that replaces modules has a separate process', { timeout: 120_000 }, async () => {
  const list = [join(cloneRoot(), 'node_modules/vitest/vitest.mjs'), 'list', '--filesOnly', '--project', 'units*'];
  const { stdout } = await promisify(execFile)(process.execPath, list, { cwd: cloneRoot() });
  const files = stdout.matchAll(/^\[(\S+)\] (\S+)$/gm).map(([, project = '', path = '']) => ({ project, path }));
  const replacing: string[] = [];
  const isolated: string[] = [];
  for (const { project, path } of files) {
    if (project === 'units-isolated') isolated.push(path);
    else if (/^vi\.(mock|doMock)\(/m.test(await readFile(join(cloneRoot(), path), 'utf8'))) replacing.push(path);
  }
  expect(isolated).toContain('services/orders/src/publisher.test.ts');
  expect(replacing).toEqual([]);
});
