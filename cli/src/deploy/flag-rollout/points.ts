import type { MetricPoint } from '../../otlp/metric-store.ts';
import { ATTEMPTS, DURATIONS } from '../analysis/read-evidence.ts';

/** The instruments whose latest points are read. */
export const FLAG_OUTCOMES = 'shop.flag.outcomes';
export const FLAG_DURATIONS = 'shop.flag.duration';

const counterparts: Readonly<Record<string, string>> = { [FLAG_OUTCOMES]: ATTEMPTS, [FLAG_DURATIONS]: DURATIONS };

/**
 * Outcomes by variant, as the analysis of a canary reads them: the flag takes the place of the service, and the variant that is on
 * that of the canary. Pure.
 */
export function asAttempts(points: readonly MetricPoint[], flag: string): readonly MetricPoint[] {
  return points.flatMap((point) => {
    const name = counterparts[point.name];
    const { flag: own, variant, ...others } = point.attributes;
    // A point without a flag is that of series that were dropped, which may have been of any.
    if (name === undefined || (own !== undefined && own !== flag)) return [];
    const track = variant === 'on' ? 'canary' : 'stable';
    return [{ ...point, name, attributes: { ...others, service: flag, track, attempt: 'first' } }];
  });
}
