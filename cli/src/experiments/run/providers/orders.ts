import type { OrdersProvider, OrdersTolerance } from '../../format/schema.ts';
import type { Invocation, LoggedOrder } from '../order-log.ts';
import type { RunContext } from '../run-context.ts';
import { type StepResult, unknown } from '../step-result.ts';
import { checkOrders } from './check-orders.ts';
import { placeOrder } from './place-order.ts';

/** Places a step's orders, `parallel` at a time, and evaluates their responses. */
export async function placeOrders(
  name: string,
  provider: OrdersProvider,
  tolerance: OrdersTolerance | undefined,
  context: RunContext,
): Promise<StepResult> {
  const invocations = invocationsOf(name, provider, context);
  if (invocations === undefined) return unknown(`no orders of "${provider['repeat-of']}" to repeat`);
  const placed: LoggedOrder[] = new Array(invocations.length);
  let next = 0;
  const client = async () => {
    for (let index = next++; index < invocations.length; index = next++) {
      context.signal.throwIfAborted();
      placed[index] = await placeOrder(invocations[index] as Invocation, provider.timeout, context);
    }
  };
  const clients = await Promise.allSettled(Array.from({ length: provider.parallel }, client));
  const failed = clients.find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  if (tolerance === undefined)
    return { verdict: 'pass', observed: `${placed.length} orders got a response or timed out` };
  return checkOrders(placed, tolerance, context);
}

/** Undefined when there is nothing to repeat. */
function invocationsOf(
  step: string,
  provider: OrdersProvider,
  { orders, runId }: Pick<RunContext, 'orders' | 'runId'>,
): readonly Invocation[] | undefined {
  const repeated = provider['repeat-of'];
  if (repeated !== undefined) {
    const earlier = orders.ofStep(repeated);
    return earlier.length === 0 ? undefined : earlier.map(({ key, lines }) => ({ step, key, lines }));
  }
  const before = orders.orders.length;
  return Array.from({ length: provider.count }, (_, index) => ({
    step,
    key: keyOf(provider.key, runId, before + index + 1),
    lines: linesOf(provider),
  }));
}

/** A new key for each order of this run: the run's id has the seed. */
export function keyOf(key: boolean | string, runId: string, number: number): string | undefined {
  if (key === false) return undefined;
  return key === true ? `${runId}-${number}` : key;
}

export function linesOf({ lines, product, quantity }: Pick<OrdersProvider, 'lines' | 'product' | 'quantity'>) {
  if (lines === undefined) return [{ productId: product, quantity }];
  return lines.map((line) => ({ productId: line.product, quantity: line.quantity }));
}
