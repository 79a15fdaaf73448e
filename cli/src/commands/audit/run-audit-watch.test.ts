import { expect, it } from 'vitest';
import type { CommandDeps } from '../../command-context.ts';
import { runAuditWatch } from './run-audit-watch.ts';

const defaults = { settle: 10, deadLetters: 0 };
/** Nothing is asked of them: wrong usage is found first. */
const deps = {} as CommandDeps;

it.each([
  ['an interval without a watch', { every: 5_000 }, [], '--every and --for need --watch'],
  ['an order', { watch: true }, ['order', 'deadLetters'], '--watch cannot be combined with --order, --dead-letters'],
  ['an interval below a second', { watch: true, every: 200 }, [], '--every is 200 ms'],
])('is wrong usage with %s', async (_what, options, others, message) => {
  await expect(runAuditWatch({ ...defaults, ...options }, others, deps)).rejects.toMatchObject({
    code: 'invalid_usage',
    message: expect.stringContaining(message),
    exitCode: 2,
  });
});
