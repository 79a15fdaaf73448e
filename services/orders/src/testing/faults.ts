import type { FailpointName } from '@shop/kit/failpoint-names.ts';

/** Calls to the services behind the saga. */
export type CallName = 'reserve' | 'release' | 'charge' | 'refund' | 'price';
/** What the orders service asks of its database. */
export type StatementName =
  | 'insert'
  | 'save'
  | 'confirm'
  | 'adopt'
  | 'renew'
  | 'read'
  | 'count'
  | 'claim'
  | 'mark'
  | 'commit';
/** Places where an instance can crash or be paused. */
export type PlaceName = FailpointName<'orders'>;

/** What happens to one message on its way. Times in ms. */
export type MessageFault =
  /** The connection is refused: the sender knows that nothing was sent. */
  | { readonly kind: 'refuse' }
  | { readonly kind: 'lose request' }
  | { readonly kind: 'lose reply' }
  | { readonly kind: 'delay request'; readonly ms: number }
  | { readonly kind: 'delay reply'; readonly ms: number }
  /** Arrives now, and once more after `ms`. */
  | { readonly kind: 'duplicate'; readonly ms: number }
  /** The receiver crashes between the two halves of its work; what it wrote first stays. */
  | { readonly kind: 'half done' };

/** What happens to an instance of the orders service. */
export type ProcessFault =
  | { readonly kind: 'crash'; readonly restartAfterMs: number }
  /** Stopped and continued: its timers are due when it wakes up, its lease may have passed. */
  | { readonly kind: 'pause'; readonly ms: number };

/** One fault: it strikes from the `nth` time on (from 0) that `at` is passed, `times` times in a row. */
export type Fault = { readonly nth: number; readonly times: number } & (
  | { readonly at: CallName | StatementName | 'publish' | 'deliver'; readonly fault: MessageFault }
  | { readonly at: PlaceName; readonly fault: ProcessFault }
);

/** A service that refuses, or never responds, for a while. */
export interface Outage {
  readonly of: 'stock' | 'payments' | 'database' | 'broker';
  readonly fromMs: number;
  readonly forMs: number;
  readonly how: 'refuse' | 'lose request';
}

/** Hands out the faults of one history. `now` gives ms since its start. */
export function createFaultPlan(faults: readonly Fault[], now: () => number) {
  const passed = new Map<string, number>();
  let overAt = 0;
  return {
    next<F extends MessageFault | ProcessFault>(at: Fault['at']): F | undefined {
      const nth = passed.get(at) ?? 0;
      passed.set(at, nth + 1);
      const due = faults.find((fault) => fault.at === at && fault.nth <= nth && nth < fault.nth + fault.times);
      if (due !== undefined) overAt = Math.max(overAt, now() + lengthOf(due.fault));
      return due?.fault as F | undefined;
    },
    /** When the last fault that has struck so far is over, ms since the start; 0 without one. */
    get overAt() {
      return overAt;
    },
  };
}

export type FaultPlan = ReturnType<typeof createFaultPlan>;

function lengthOf(fault: MessageFault | ProcessFault): number {
  if (fault.kind === 'crash') return fault.restartAfterMs;
  return 'ms' in fault ? fault.ms : 0;
}
