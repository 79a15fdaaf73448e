import { expect, it } from 'vitest';
import { cloneRoot } from '../../platform/project.ts';
import type { RunVerdict } from '../../shared/verdict.ts';
import { findExperiments } from '../format/catalog.ts';
import { mayFollow } from './may-follow.ts';

const after = async (verdict: RunVerdict, id: string) =>
  (await findExperiments(cloneRoot(), { names: [id] })).map(({ experiment }) => mayFollow(verdict, experiment));

it('another experiment has the platform of one that passed, and of no other', async () => {
  expect(await after('pass', 'E09')).toEqual([true]);
  for (const verdict of ['fail', 'unknown', 'dirty', 'interrupted'] as const)
    expect(await after(verdict, 'E09')).toEqual([false]);
});

it('no experiment has the platform of one with a telemetry outage, whose processes have dropped spans', async () => {
  expect(await after('pass', 'E37')).toEqual([false]);
});
