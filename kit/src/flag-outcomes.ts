import { metrics, ValueType } from '@opentelemetry/api';
import { BOUNDS_S, inPercent } from './attempt-metrics.ts';
import { type AttemptOutcome, outcomeOfError } from './attempt-outcomes.ts';
import { type FlagName, flagNames } from './flag-names.ts';
import type { Flags } from './flags.ts';
import { rememberKeys } from './recent-keys.ts';

/** Work that a flag changes, counted by its variant. */
export interface FlagOutcomes {
  /**
   * Evaluates the flag for the key, does the work and counts what became of it. Work that resolves with false was another
   * instance's, and is not counted; neither is a key that came before.
   */
  during(name: FlagName, key: string, work: (isOn: boolean) => Promise<boolean>): Promise<boolean>;
}

export function createFlagOutcomes(flags: Pick<Flags, 'isOn'> & Partial<Pick<Flags, 'shareOn'>>): FlagOutcomes {
  const meter = metrics.getMeter('Shop.Flags');
  const outcomes = meter.createCounter('shop.flag.outcomes', {
    description: 'Work that a flag changes, by its variant and what became of it',
    valueType: ValueType.INT,
  });
  const duration = meter.createHistogram('shop.flag.duration', {
    description: 'Duration of work that a flag changes and that succeeded, while a share of the keys has it on',
    unit: 's',
    valueType: ValueType.DOUBLE,
    advice: { explicitBucketBoundaries: BOUNDS_S },
  });
  // From the start, so that a reader can distinguish "none yet" from "not reported".
  for (const flag of flagNames) outcomes.add(0, { flag, variant: 'off', outcome: 'ok' });
  const keys = rememberKeys();

  return {
    async during(name, key, work) {
      // Read with the variant: an outcome belongs to the share by which it was drawn, however late it comes.
      const share = flags.shareOn?.(name);
      const isOn = await flags.isOn(name, key);
      const isFirst = keys.isFirst(`${name} ${key}`);
      const tags = {
        flag: name,
        variant: isOn ? 'on' : 'off',
        ...(share !== undefined && { share: inPercent(share) }),
      };
      const count = (outcome: AttemptOutcome) => {
        if (isFirst) outcomes.add(1, { ...tags, outcome });
      };
      const beganAt = performance.now();
      try {
        const isOurs = await work(isOn);
        if (!isOurs) return false;
        count('ok');
        if (isFirst && share !== undefined) duration.record((performance.now() - beganAt) / 1_000, tags);
        return true;
      } catch (error) {
        count(outcomeOfError(error, false));
        throw error;
      }
    },
  };
}
