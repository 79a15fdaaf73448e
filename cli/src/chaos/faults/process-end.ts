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
import type { PlatformAccess } from '../platform-access.ts';
import { toWitness } from './toxic-fault.ts';

interface ProcessEndOptions {
  readonly name: string;
  readonly title: string;
  readonly isMomentary: boolean;
  /** How long the processes may take to end once `end` has returned, ms. Default: for one that ends immediately. */
  readonly endLimitMs?: number;
  /** Ends the processes. */
  end(victims: Victims, platform: PlatformAccess): Promise<void>;
}

/** Faults that end processes; reverted by starting them again. */
export function processEndFault({ name, title, isMomentary, endLimitMs, end }: ProcessEndOptions): AnyFault {
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
    prepare: async ({ target }, platform) => recordVictims(target, platform),
    inject: (_, victims: Victims, platform) => end(victims, platform),
    async witness(_, victims: Victims) {
      const evidence = await awaitGone(victims, endLimitMs);
      return toWitness(evidence !== undefined, evidence ?? `${victims.target} is still running unchanged`);
    },
    ...(!isMomentary && { isInPlace: areStopped }),
    undo: (victims: Victims, platform) => bringBack(victims, platform),
    verify: (victims: Victims, platform) => verifyReady(victims, platform),
  });
}

/** Another command may have started them. */
async function areStopped({ target }: Victims, platform: PlatformAccess): Promise<boolean> {
  return instancesOf(target, platform).every(({ status }) => status === 'stopped');
}
