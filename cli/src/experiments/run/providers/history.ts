import type { HistoryProbe } from '../../format/schema.ts';
import type { RunContext } from '../run-context.ts';
import type { StepResult } from '../step-result.ts';
import { checkOrders } from './check-orders.ts';

/** Evaluates the orders that a load or a step has placed; the step's `within` waits for those in flight. */
export function probeHistory({ provider, tolerance }: HistoryProbe, context: RunContext): Promise<StepResult> {
  const { of, phase } = provider;
  const orders = context.orders.ofStep(of).filter((order) => phase === 'all' || order.phase === phase);
  return checkOrders(orders, tolerance, context);
}
