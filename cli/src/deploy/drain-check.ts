import { CliError } from '../errors.ts';
import { type GatewayClient, RESPONSE_LIMIT_MS } from '../shop/gateway-client.ts';
import type { Subject } from './preflight.ts';
import { tripped } from './trip.ts';

export interface DrainCheckDeps {
  readonly gateway: GatewayClient;
  readonly signal: AbortSignal;
}

/** Orders in flight when the instance is ended. */
const IN_FLIGHT = 6;
/** Orders before that: those that begin together are at the same place. */
const WARM_UP = 2 * IN_FLIGHT;
/** One may have met something that is not the release's. */
const LEAST_LOST = 2;

/**
 * Ends the instances while they serve orders that no client placed: each of these has to get its response. Resolves with what was found;
 * rejects with Trip.
 */
export async function runDrainCheck(
  { instances, track }: Subject,
  end: () => Promise<void>,
  { gateway, signal }: DrainCheckDeps,
): Promise<string> {
  const request = { customer: 'preflight', lines: [{ productId: 1, quantity: 1 }] };
  /** Resolves with why there is no order. */
  const place = async (): Promise<string | undefined> => {
    try {
      const response = await gateway.placeOrder(request, { track, signal, timeoutMs: RESPONSE_LIMIT_MS });
      if (response.kind === 'decided' || response.problem.status < 500) return undefined;
      return `${response.problem.status} ${response.problem.code}`;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof CliError) return error.message;
      throw error;
    }
  };
  const warm = Promise.withResolvers<void>();
  let responses = 0;
  let ending = false;
  /** One order after the other; resolves with what became of the last one. */
  const placeUntilEnd = async () => {
    for (;;) {
      const why = await place();
      if (ending) return why;
      responses += 1;
      if (responses === WARM_UP) warm.resolve();
    }
  };
  const placing = Promise.all(Array.from({ length: IN_FLIGHT }, placeUntilEnd));
  await Promise.race([warm.promise, placing]);
  // Each of them has an order on its way now, none of which is at the same place.
  ending = true;
  const [found] = await Promise.all([placing, end()]);
  const lost = found.filter((why) => why !== undefined);
  const names = instances.join(', ');
  if (lost.length >= LEAST_LOST)
    throw tripped(
      'drain',
      `${names} ended with ${IN_FLIGHT} orders in flight, and ${lost.length} were lost: ${lost[0]}`,
    );
  return `${names} ended with ${IN_FLIGHT} orders in flight, and lost ${lost.length === 0 ? 'none' : lost.length}`;
}
