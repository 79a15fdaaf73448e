import { Type } from 'typebox';
import { defineFault } from '../fault.ts';
import { awaitGone, instancesOf, recordVictims, START_LIMIT_MS, type Victims, verifyReady } from '../instances.ts';
import { judged } from './toxic-fault.ts';

const parameters = Type.Object(
  {
    delay: Type.Integer({ minimum: 100, maximum: 600_000, description: 'how long each start is put off', unit: 'ms' }),
  },
  { additionalProperties: false },
);

/** Counts for every start while it lasts, also for those after a crash. */
export const slowStart = defineFault<typeof parameters, Victims>({
  name: 'slow-start',
  kind: 'process',
  scope: 'process',
  title: 'it is restarted and comes up late: each start is put off',
  parameters,
  endsWithPlatform: true,
  undoLimitMs: START_LIMIT_MS,
  prepare: async ({ target }, world) => recordVictims(target, world),
  async inject({ parameters: { delay } }, { target }, world) {
    world.setConditions(target, { delayMs: delay });
    await world.relaunch(target);
  },
  async witness({ parameters: { delay } }, victims, world) {
    const gone = await awaitGone(victims);
    const running = instancesOf(victims.target, world).filter(({ process }) => process !== undefined);
    if (gone === undefined) return { verdict: 'absent', evidence: `${victims.target} still runs as it did` };
    return judged(running.length === 0, `${gone}, and ${running.length} started before ${delay / 1000} s were over`);
  },
  async undo({ target }, world) {
    if (!world.isLive) return;
    world.setConditions(target, {});
    // Those that wait for their start need not any more.
    if (instancesOf(target, world).some(({ process }) => process === undefined)) await world.relaunch(target);
  },
  verify: (victims, world) => verifyReady(victims, world),
});
