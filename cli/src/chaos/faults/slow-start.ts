import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';
import { defineFault } from '../fault.ts';
import { awaitGone, instancesOf, recordVictims, START_LIMIT_MS, type Victims, verifyReady } from '../instances.ts';
import { toWitness } from './toxic-fault.ts';

const LONGEST_LOOK_MS = 300;
const POLL_MS = 20;

const parameters = Type.Object(
  {
    delay: Type.Integer({ minimum: 100, maximum: 600_000, description: 'delay of each start', unit: 'ms' }),
  },
  { additionalProperties: false },
);

/** Counts for every start while it lasts, also for those after a crash. */
export const slowStart = defineFault<typeof parameters, Victims>({
  name: 'slow-start',
  kind: 'process',
  scope: 'process',
  title: 'it is restarted, and each start is delayed',
  parameters,
  defaults: { parameters: { delay: 3_000 } },
  presets: [{ delay: 10_000 }],
  endsWithPlatform: true,
  undoLimitMs: START_LIMIT_MS,
  prepare: async ({ target }, platform) => recordVictims(target, platform),
  async inject({ parameters: { delay } }, { target }, platform) {
    platform.changeConditions(target, { delayMs: delay });
    await platform.relaunch(target);
  },
  async witness({ parameters: { delay } }, victims, platform) {
    const gone = await awaitGone(victims);
    if (gone === undefined)
      return { verdict: 'not_observed', evidence: `${victims.target} is still running unchanged` };
    // A start that is not delayed begins within milliseconds of the end.
    const lookMs = Math.min(delay / 2, LONGEST_LOOK_MS);
    const began = performance.now();
    const running = () => instancesOf(victims.target, platform).filter(({ process }) => process !== undefined).length;
    while (running() === 0 && performance.now() - began < lookMs) await sleep(POLL_MS);
    const tookMs = Math.round(performance.now() - began);
    return toWitness(running() === 0, `${gone}, and ${running()} had started ${tookMs} ms later`);
  },
  whyNotAsked: 'it acts at starts alone, and the supervisor that keeps it ends it when that ends',
  async undo({ target }, platform) {
    if (!platform.isLive) return;
    platform.changeConditions(target, { delayMs: undefined });
    // Delayed starts happen now.
    if (instancesOf(target, platform).some(({ process }) => process === undefined)) await platform.relaunch(target);
  },
  verify: (victims, platform) => verifyReady(victims, platform),
});
