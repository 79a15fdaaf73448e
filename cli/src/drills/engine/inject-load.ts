import type { RunClock } from '../../shared/clock.ts';
import { rubric } from '../score/rubric.ts';
import type { Customers } from './customers.ts';
import type { Injected, Injection } from './ports.ts';

type LoadInjection = Extract<Injection, { readonly type: 'load' }>;

export interface InjectLoadOptions {
  readonly customers: Pick<Customers, 'setLoad'>;
  readonly clock: RunClock;
  /** The round is over. */
  readonly over: AbortSignal;
  /** Whether customers notice something now. */
  isNoticed(): boolean;
}

/** A load that rises has so much more each time. What an order meets takes seconds until customers notice it. */
const RISE = { factor: 1.3, everyMs: 4_000 };
/** A shop that has so many times the usual rate has enough for any machine. */
const MOST = 100;
/** One slow second is not yet an overload: customers notice it for 5 s, after which the second look comes. */
const LOOKS = 2;
const NEXT_LOOK_MS = rubric.customers.windowMs + 2_000;

/**
 * More orders from now on. How many are too many differs between machines: a load that rises does so until customers notice it, and
 * stays there, whatever a trainee does then.
 */
export function injectLoad({ factor, repeats, rises }: LoadInjection, options: InjectLoadOptions): Injected {
  const { customers } = options;
  customers.setLoad({ factor, repeats });
  return {
    witness: rises ? rise({ factor, repeats }, options) : `orders at ${factor} times the rate`,
    revert: async () => customers.setLoad({ factor: 1, repeats: false }),
  };
}

/** Resolves with the rate that customers noticed; undefined where they never did. */
async function rise(
  { factor, repeats }: Pick<LoadInjection, 'factor' | 'repeats'>,
  { customers, clock, over, isNoticed }: InjectLoadOptions,
): Promise<string | undefined> {
  let current = factor;
  for (let noticed = 0; noticed < LOOKS; ) {
    await clock.sleep(noticed === 0 ? RISE.everyMs : NEXT_LOOK_MS, over).catch(() => undefined); // Over: checked next.
    if (over.aborted || current > MOST) return undefined;
    noticed = isNoticed() ? noticed + 1 : 0;
    if (noticed > 0) continue;
    current *= RISE.factor;
    customers.setLoad({ factor: current, repeats });
  }
  return `customers notice orders at ${current.toFixed(1)} times the rate`;
}
