import fc from 'fast-check';
import type { Fault, MessageFault, Outage, ProcessFault } from './faults.ts';
import type { ClientOrder, History } from './history.ts';

/** Times in ms around the limits that matter: an attempt's 1 s and 2 s, a call's 4.5 s, the lease of 5 s, a late rest. */
const LATE_MS = [20, 1_500, 3_000, 7_000, 15_000];
/** A statement that waits longer than its 2 s and the 1.5 s for a connection is cancelled by the server. */
const LATE_STATEMENT_MS = [20, 400, 3_000];
/** An adoption whose caller has given up meets rows that were adopted since; the server cancels it before. */
const LATE_ADOPTION_MS = [20, 400, 1_800];
const PAUSE_MS = [300, 2_500, 6_500, 12_000];
const RESTART_MS = [100, 1_500, 7_000];

const late = (choices: readonly number[]): fc.Arbitrary<MessageFault> =>
  fc.record({
    kind: fc.constantFrom('delay request' as const, 'delay reply' as const),
    ms: fc.constantFrom(...choices),
  });
const plain = (...kinds: ('refuse' | 'lose request' | 'lose reply' | 'half done')[]): fc.Arbitrary<MessageFault> =>
  fc.record({ kind: fc.constantFrom(...kinds) });
const duplicate: fc.Arbitrary<MessageFault> = fc.record({
  kind: fc.constant('duplicate' as const),
  ms: fc.constantFrom(...LATE_MS),
});
const nth = fc.constantFrom(0, 0, 0, 1, 2, 4);
/** Once, or as often as a call is tried. */
const times = fc.constantFrom(1, 2, 4);
const once = fc.constant(1);

const callFault: fc.Arbitrary<Fault> = fc.oneof(
  fc.record({
    at: fc.constantFrom('reserve' as const, 'release' as const, 'charge' as const, 'refund' as const),
    nth,
    times,
    fault: fc.oneof(plain('refuse', 'lose request', 'lose reply'), late(LATE_MS), duplicate),
  }),
  fc.record({ at: fc.constant('charge' as const), nth, times, fault: plain('half done') }),
  fc.record({ at: fc.constant('price' as const), nth, times, fault: plain('refuse', 'lose reply') }),
);
/** A step whose every request arrives when it has long been compensated. */
const overtaken: fc.Arbitrary<Fault> = fc.record({
  at: fc.constantFrom('reserve' as const, 'charge' as const),
  nth,
  times: fc.constant(4),
  fault: fc.record({ kind: fc.constant('delay request' as const), ms: fc.constantFrom(7_000, 15_000) }),
});
const adoptionFault: fc.Arbitrary<Fault> = fc.record({
  at: fc.constant('adopt' as const),
  nth: fc.nat({ max: 12 }),
  times,
  fault: fc.oneof(plain('refuse', 'lose request', 'lose reply'), late(LATE_ADOPTION_MS)),
});
const statementFault: fc.Arbitrary<Fault> = fc.record({
  at: fc.constantFrom(
    'insert' as const,
    'save' as const,
    'confirm' as const,
    'renew' as const,
    'read' as const,
    'claim' as const,
    'mark' as const,
    'commit' as const,
  ),
  nth,
  times,
  fault: fc.oneof(plain('refuse', 'lose request', 'lose reply'), late(LATE_STATEMENT_MS)),
});
const brokerFault: fc.Arbitrary<Fault> = fc.record({
  at: fc.constantFrom('publish' as const, 'deliver' as const),
  nth,
  times,
  fault: fc.oneof(plain('refuse', 'lose request', 'lose reply'), late(LATE_MS), duplicate),
});
const processFault: fc.Arbitrary<ProcessFault> = fc.oneof(
  fc.record({ kind: fc.constant('crash' as const), restartAfterMs: fc.constantFrom(...RESTART_MS) }),
  fc.record({ kind: fc.constant('pause' as const), ms: fc.constantFrom(...PAUSE_MS) }),
);
const placeFault: fc.Arbitrary<Fault> = fc.record({
  at: fc.constantFrom(
    ...([
      'order-received:unrecorded',
      'order-started:saved',
      'products-read:unrecorded',
      'stock-reserved:unsaved',
      'stock-reserved:saved',
      'payment-charged:unsaved',
      'payment-charged:saved',
      'order-confirmed:unsaved',
      'order-confirmed:saved',
    ] as const),
    ...([
      'step-failed:unsaved',
      'step-failed:saved',
      'step-compensated:unsaved',
      'order-compensated:saved',
      'batch-claimed:unpublished',
      'event-published:unconfirmed',
      'event-confirmed:unmarked',
      'batch-marked:committed',
    ] as const),
  ),
  nth: fc.nat({ max: 2 }),
  times: once,
  fault: processFault,
});
const outage: fc.Arbitrary<Outage> = fc.record({
  of: fc.constantFrom('stock' as const, 'payments' as const, 'database' as const, 'broker' as const),
  fromMs: fc.constantFrom(0, 50, 1_200, 3_000),
  forMs: fc.constantFrom(200, 1_500, 6_000),
  how: fc.constantFrom('refuse' as const, 'lose request' as const),
});
const order: fc.Arbitrary<ClientOrder> = fc.record({
  atMs: fc.constantFrom(0, 10, 480, 1_000, 2_600),
  productId: fc.constantFrom(1, 2, 3),
  quantity: fc.constantFrom(1, 2),
  withKey: fc.boolean(),
});

/** Histories of one to three orders over one to three instances, with up to eight faults and an outage. */
export const histories: fc.Arbitrary<History> = fc.record({
  instances: fc.integer({ min: 1, max: 3 }),
  orders: fc.array(order, { minLength: 1, maxLength: 3 }),
  faults: fc.array(
    fc.oneof(
      { weight: 4, arbitrary: callFault },
      { weight: 1, arbitrary: overtaken },
      { weight: 3, arbitrary: statementFault },
      { weight: 1, arbitrary: adoptionFault },
      { weight: 3, arbitrary: placeFault },
      { weight: 1, arbitrary: brokerFault },
    ),
    { maxLength: 8 },
  ),
  outages: fc.array(outage, { maxLength: 1 }),
});

export interface SimulationOptions {
  readonly runs: number;
  readonly seed?: number;
}

/**
 * Plays `runs` histories. Throws with the seed, the shortest failing history found and its journal; a seed and the path
 * in the message replay it (`SIMULATION_SEED`).
 */
export async function simulate(
  playOne: (history: History) => Promise<{ journal: { violations: readonly string[]; toString(): string } }>,
  { runs, seed }: SimulationOptions,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const { journal } = await playOne(history);
      if (journal.violations.length > 0) throw new Error(`${journal.violations.join('\n')}\n\n${journal}`);
    }),
    { numRuns: runs, ...(seed === undefined ? {} : { seed }) },
  );
}
