import type { DatabaseName } from '../topology/databases.ts';
import type { OrderFacts } from './facts.ts';
import { areCompared } from './horizon.ts';
import type { Clock, InvariantResult, OrderCheck, OrderInvariant, Violation } from './invariant.ts';
import { verdictOf } from './invariant.ts';

interface Running {
  readonly invariant: OrderInvariant;
  readonly check: OrderCheck;
  readonly violations: Violation[];
  inFlight: number;
}

/**
 * Shows every order to every invariant that may check it. Those that need a missing source are not started, and are
 * `unknown`.
 */
export async function checkOrders(
  invariants: readonly OrderInvariant[],
  facts: AsyncIterable<OrderFacts> | Iterable<OrderFacts>,
  options: { readonly clock: Clock; readonly missing: ReadonlyMap<DatabaseName, string> },
): Promise<InvariantResult[]> {
  const reasonsOf = ({ needs }: OrderInvariant) =>
    needs.map((source) => options.missing.get(source)).filter((reason) => reason !== undefined);
  const running: Running[] = invariants
    .filter((invariant) => reasonsOf(invariant).length === 0)
    .map((invariant) => ({ invariant, check: invariant.start(options.clock), violations: [], inFlight: 0 }));
  if (running.length > 0) for await (const one of facts) for (const check of running) show(check, one, options.clock);
  return invariants.map((invariant) => {
    const check = running.find((one) => one.invariant === invariant);
    return check === undefined ? unknownResult(invariant, reasonsOf(invariant).join('; ')) : conclude(check);
  });
}

function show(running: Running, facts: OrderFacts, { at }: Clock): void {
  const { compares } = running.invariant;
  if (compares !== undefined && !areCompared(facts, compares, at)) return;
  const { violations, inFlight } = running.check.add(facts);
  for (const violation of violations) running.violations.push({ ...violation, orderId: facts.orderId });
  if (inFlight) running.inFlight++;
}

function conclude({ invariant: { id, title }, check, violations, inFlight }: Running): InvariantResult {
  const all = [...violations, ...(check.total?.() ?? [])];
  return { id, title, verdict: verdictOf(all, []), evidence: check.evidence(), violations: all, inFlight };
}

/** An invariant about which nothing can be said. */
export function unknownResult({ id, title }: { id: string; title: string }, reason: string): InvariantResult {
  return { id, title, verdict: 'unknown', evidence: reason, violations: [], inFlight: 0 };
}
