import type { HistoryProbe } from '../../format/schema.ts';
import type { StepResult } from '../outcome.ts';
import type { RunContext } from '../run-context.ts';
import { judgeOrders } from './judge-orders.ts';

/** Judges the orders that a load has placed; those in flight are waited for by the step's `within`. */
export function probeHistory({ provider, tolerance }: HistoryProbe, context: RunContext): Promise<StepResult> {
  const { of, phase } = provider;
  const orders = context.orders.ofStep(of).filter((order) => phase === 'all' || order.phase === phase);
  return judgeOrders(orders, tolerance, context);
}
