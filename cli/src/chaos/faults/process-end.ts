import { Type } from 'typebox';
import { type AnyFault, defineFault } from '../fault.ts';
import {
  awaitGone,
  bringBack,
  instancesOf,
  recordVictims,
  START_LIMIT_MS,
  type Victims,
  verifyReady,
} from '../instances.ts';
import type { World } from '../world.ts';
import { judged } from './toxic-fault.ts';

interface ProcessEndOptions {
  readonly name: string;
  readonly title: string;
  readonly isMomentary: boolean;
  /** Ends the processes, or has them ended. */
  end(victims: Victims, world: World): Promise<void>;
}

/** Faults by which processes end; taken back by having them run again. */
export function processEndFault({ name, title, isMomentary, end }: ProcessEndOptions): AnyFault {
  return defineFault({
    name,
    kind: 'process',
    scope: 'process',
    title,
    parameters: Type.Object({}, { additionalProperties: false }),
    defaults: { parameters: {} },
    isMomentary,
    endsWithPlatform: true,
    undoLimitMs: START_LIMIT_MS,
    prepare: async ({ target }, world) => recordVictims(target, world),
    inject: (_, victims: Victims, world) => end(victims, world),
    async witness(_, victims: Victims) {
      const evidence = await awaitGone(victims);
      return judged(evidence !== undefined, evidence ?? `${victims.target} still runs as it did`);
    },
    ...(!isMomentary && { isInPlace: areStopped }),
    undo: (victims: Victims, world) => bringBack(victims, world),
    verify: (victims: Victims, world) => verifyReady(victims, world),
  });
}

/** Somebody else may have started them. */
async function areStopped({ target }: Victims, world: World): Promise<boolean> {
  return instancesOf(target, world).every(({ status }) => status === 'stopped');
}
