import { describe, expect, it } from 'vitest';
import { type Continuation, continueAsBuilt } from './continue-as-built.ts';
import { openProject } from './project.ts';

/** What the process was replaced by, for a build that changes `files`. */
async function replacedBy(files: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const replaced: { args: readonly string[]; env: NodeJS.ProcessEnv }[] = [];
  const options: Continuation = {
    env,
    say: () => undefined,
    build: async () => files,
    replace: (_file, args, environment) => replaced.push({ args, env: environment }),
  };
  await continueAsBuilt(openProject('shop', '/clone', {}), options);
  return replaced;
}

describe('a command whose sources are newer than its build', () => {
  it('is restarted with the same arguments and environment', async () => {
    const [started, ...more] = await replacedBy(['dist/services/orders.cjs', 'dist/cli/shopctl.mjs'], { TERM: 'dumb' });
    expect(started?.args.slice(process.execArgv.length)).toEqual(process.argv.slice(1));
    expect(started?.env).toMatchObject({ TERM: 'dumb' });
    expect(more).toEqual([]);
  });

  it('goes on when only services were built', async () => {
    expect(await replacedBy(['dist/services/orders.cjs'])).toEqual([]);
  });

  it('goes on when nothing was built', async () => {
    expect(await replacedBy([])).toEqual([]);
  });

  it('is not restarted a second time', async () => {
    const [started] = await replacedBy(['dist/cli/shopctl.mjs']);
    expect(await replacedBy(['dist/cli/shopctl.mjs'], started?.env)).toEqual([]);
  });
});
