/*
 * Goal: the experiments tagged `fast` pass, each for its own reason, on a platform that all of them share.
 * Method: a real platform and the built `shopctl`, one run per experiment. The whole catalog is `npm run chaos:all`.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunSummary } from '../../cli/src/commands/chaos/experiment-batch.ts';
import { findExperiments } from '../../cli/src/experiments/format/catalog.ts';
import { cloneRoot } from '../../cli/src/platform/project.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { place } from './support/client.ts';

const RUN_LIMIT_MS = 120_000;
const fast = await findExperiments(cloneRoot(), { tags: ['fast'] });

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startPlatform({ project: 'e2e-chaos-subset', env: { SHOPCTL_FAILPOINTS: '1' } });
  await place(platform);
});
afterAll(() => platform?.stop());

describe('the fast experiments', () => {
  it('need no ephemeral platform', () => {
    const needs = fast.map(({ experiment: { id, platform: own } }) => ({ id, ...own, failpoints: true }));
    expect(needs).toEqual(
      fast.map(({ experiment: { id } }) => ({ id, failpoints: true, replicas: {}, env: {}, 'seeded-bugs': [] })),
    );
  });

  it.each(fast.map(({ experiment }) => experiment))(
    '$id $title',
    async ({ id }) => {
      const { stdout, stderr, code } = await platform.shopctl('chaos', 'run', id, '--json');
      const runs: readonly RunSummary[] = stdout === '' ? [] : JSON.parse(stdout);
      expect({ code, reasons: runs.map(({ reasons }) => reasons), stderr: code === 0 ? '' : stderr }).toEqual({
        code: 0,
        reasons: [[]],
        stderr: '',
      });
    },
    RUN_LIMIT_MS,
  );
});
