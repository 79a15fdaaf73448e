// Goal: after new sources were checked out, the command line that was built before can build its successor.
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { cloneRoot } from '../../cli/src/platform/project.ts';

/** What the command line of release 0.2.0 calls, in this order (its cli/src/platform/bundles.ts). */
interface BuildScript {
  isStale(): Promise<boolean>;
  buildIfStale(): Promise<{ built: readonly string[]; changed: readonly string[] }>;
}

it('the build script has what the command line of release 0.2.0 calls', async () => {
  const script = (await import(pathToFileURL(`${cloneRoot()}/scripts/build.mjs`).href)) as BuildScript;
  expect(typeof (await script.isStale())).toBe('boolean');
  expect(script.buildIfStale).toBeInstanceOf(Function);
});
