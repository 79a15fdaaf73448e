import { CliError } from '../../../errors.ts';
import { exitCodes } from '../../../exit-codes.ts';
import type { PlaceResponse } from '../../../shop/gateway-client.ts';
import type { Invocation, LoggedOrder, OrderResponse } from '../order-log.ts';
import type { RunContext } from '../run-context.ts';

/** The customer of every order of a run, and of no other order. */
export function customerOf(runId: string): string {
  return `Chaos experiment ${runId}`;
}

/** Problems that say that nothing was recorded (docs/errors.md); after any other the order may exist. */
const NOT_PLACED: ReadonlySet<string> = new Set([
  'malformed_request',
  'malformed_json',
  'invalid_request',
  'payload_too_large',
  'unsupported_media_type',
  'headers_too_large',
  'unknown_product',
  'total_too_large',
  'idempotency_key_reused',
  'orders_unreachable',
  'catalog_unavailable',
  'database_unavailable',
]);

/**
 * Places one order through the gateway and resolves once it is over, whatever became of it. An order without a response
 * is a result, and so is one that the end of the run cuts short.
 */
export async function placeOrder(
  invocation: Invocation,
  timeoutMs: number,
  { orders, platform, clock, signal, runId }: Pick<RunContext, 'orders' | 'platform' | 'clock' | 'signal' | 'runId'>,
): Promise<LoggedOrder> {
  const order = orders.invoke(invocation);
  const began = clock.now();
  const request = { customer: customerOf(runId), lines: invocation.lines };
  try {
    const response = await platform.gateway.placeOrder(request, { idempotencyKey: invocation.key, timeoutMs, signal });
    orders.end(order, readResponse(response));
  } catch (error) {
    const failure = signal.aborted ? { state: 'info' as const, code: 'interrupted' } : readFailure(error);
    // A timer may ring a moment early by another clock: who gave up has waited all of the time.
    const leastMs = failure.code === 'timeout' ? timeoutMs : 0;
    orders.end(order, { ...failure, tookMs: Math.max(leastMs, clock.now() - began) });
  }
  return order;
}

function readResponse(response: PlaceResponse): OrderResponse {
  const traceId = response.traceId ?? undefined;
  const { tookMs } = response;
  if (response.kind === 'decided') {
    const { id: orderId, status, reason, httpStatus: http } = response;
    return { state: 'ok', http, orderId, status, reason: reason ?? undefined, traceId, tookMs };
  }
  const { status: http, code } = response.problem;
  const orderId = response.location?.split('/').at(-1);
  return { state: NOT_PLACED.has(code) ? 'fail' : 'info', http, code, orderId, traceId, tookMs };
}

/** No response, or none of the shop's. Only a refused connection proves that nothing has happened. */
function readFailure(error: unknown): Omit<OrderResponse, 'tookMs'> {
  if (!(error instanceof CliError)) throw error;
  if (error.exitCode === exitCodes.timedOut) return { state: 'info', code: 'timeout' };
  const code = codeOf(error.cause);
  if (error.exitCode !== exitCodes.notRunning) return { state: 'info', code: 'foreign_response' };
  return code === 'ECONNREFUSED' ? { state: 'fail', code } : { state: 'info', code: code ?? 'connection_lost' };
}

/** fetch hides the socket's error one or two causes deep. */
function codeOf(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (typeof code === 'string') return code;
    const [first] = cause instanceof AggregateError ? (cause.errors as readonly NodeJS.ErrnoException[]) : [];
    if (typeof first?.code === 'string') return first.code;
  }
  return undefined;
}
