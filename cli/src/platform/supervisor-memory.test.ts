import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { supervisorCommand } from './supervisor-process.ts';
import type { HeapReport } from './testing/fill-stores.ts';

/*
 * Goal: the telemetry of a long run takes a supervisor no more memory than that of a short one.
 * Method: a process started with V8's options of a supervisor, whose small stores are filled many times over.
 */

const run = promisify(execFile);
const MB = 1024 ** 2;
/** The two halves of the young generation, 8 MB each, and the pages that V8 keeps beside them. */
const YOUNG_LIMIT = 20 * MB;

it('keeps its young generation small, and of what it was sent what its stores say, however much that was', async () => {
  const [program, ...args] = supervisorCommand({ root: '/nowhere', name: 'test' });
  const options = args.filter((arg) => arg.startsWith('--'));
  const script = join(import.meta.dirname, 'testing/fill-stores.ts');
  const { stdout } = await run(program, [...options, '--expose-gc', script]);

  const { youngBytes, heldBytes, estimatedBytes, evictedTraces } = JSON.parse(stdout) as HeapReport;

  expect(evictedTraces).toBeGreaterThan(2_000);
  expect(youngBytes).toBeLessThan(YOUNG_LIMIT);
  expect(heldBytes).toBeLessThan(1.5 * estimatedBytes);
}, 60_000);
