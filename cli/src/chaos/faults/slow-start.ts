import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';
import { defineFault } from '../fault.ts';
import { awaitGone, instancesOf, recordVictims, START_LIMIT_MS, type Victims, verifyReady } from '../instances.ts';
import { judged } from './toxic-fault.ts';

const LONGEST_LOOK_MS = 300;
const POLL_MS = 20;

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
  defaults: { parameters: { delay: 3_000 } },
  presets: [{ delay: 10_000 }],
  endsWithPlatform: true,
  undoLimitMs: START_LIMIT_MS,
  prepare: async ({ target }, world) => recordVictims(target, world),
  async inject({ parameters: { delay } }, { target }, world) {
    world.setConditions(target, { delayMs: delay });
    await world.relaunch(target);
  },
  async witness({ parameters: { delay } }, victims, world) {
    const gone = await awaitGone(victims);
    if (gone === undefined) return { verdict: 'absent', evidence: `${victims.target} still runs as it did` };
    // A start that is not put off begins within milliseconds of the end.
    const lookMs = Math.min(delay / 2, LONGEST_LOOK_MS);
    const began = performance.now();
    const running = () => instancesOf(victims.target, world).filter(({ process }) => process !== undefined).length;
    while (running() === 0 && performance.now() - began < lookMs) await sleep(POLL_MS);
    const tookMs = Math.round(performance.now() - began);
    return judged(running() === 0, `${gone}, and ${running()} had started ${tookMs} ms later`);
  },
  whyNotAsked: 'it acts at starts alone, and the supervisor that keeps it ends it when that ends',
  async undo({ target }, world) {
    if (!world.isLive) return;
    world.setConditions(target, {});
    // Those that wait for their start need not any more.
    if (instancesOf(target, world).some(({ process }) => process === undefined)) await world.relaunch(target);
  },
  verify: (victims, world) => verifyReady(victims, world),
});
