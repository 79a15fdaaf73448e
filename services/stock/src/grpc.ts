import type { Server, ServerUnaryCall, ServiceDefinition, sendUnaryData } from '@grpc/grpc-js';
import { Deadline } from '@shop/kit/deadline.ts';
import { ReplyDroppedError } from '@shop/kit/failpoints.ts';
import { DatabaseUnavailableError } from '@shop/kit/failures.ts';
import { grpc } from '@shop/kit/grpc.ts';
import type { Logger } from '@shop/kit/logger.ts';
import { traceUnary } from '@shop/kit/spans/grpc-calls.ts';
import { InvalidRequestError, parseRelease, parseReserve } from './requests.ts';
import { KeyReusedError, type ReserveOutcome } from './reservation.ts';
import type { StillWanted, Stock } from './stock.ts';

/** The caller has left, or its deadline has passed; the transaction is rolled back. */
class AbandonedError extends Error {
  override readonly name = 'AbandonedError';
}

const OUTCOMES = {
  reserved: 'RESERVE_OUTCOME_RESERVED',
  insufficient: 'RESERVE_OUTCOME_INSUFFICIENT',
  released: 'RESERVE_OUTCOME_RELEASED',
} as const;

export function addInventory(server: Server, definition: ServiceDefinition, stock: Stock, logger: Logger): void {
  server.addService(definition, {
    Reserve: unary(logger, async (request, stillWanted) =>
      toReserveResponse(await stock.reserve(parseReserve(request), stillWanted)),
    ),
    Release: unary(logger, async (request, stillWanted) => ({
      released: await stock.release(parseRelease(request), stillWanted),
    })),
  });
}

function toReserveResponse(result: ReserveOutcome) {
  return {
    outcome: OUTCOMES[result.outcome],
    insufficientProductIds: result.outcome === 'insufficient' ? result.productIds : [],
  };
}

type Method = (request: unknown, stillWanted: StillWanted) => Promise<object>;

function unary(logger: Logger, method: Method) {
  return traceUnary(async (call: ServerUnaryCall<unknown, object>, callback: sendUnaryData<object>) => {
    const began = performance.now();
    let status: { code: number; details: string } | undefined;
    try {
      const stillWanted = whileWaiting(call);
      stillWanted();
      callback(null, await method(call.request, stillWanted));
    } catch (error) {
      // The stream stays open until the caller's deadline has passed or it leaves.
      HARNESS: if (error instanceof ReplyDroppedError) return;
      status = toStatus(error, logger);
      callback(status);
    }
    logger.debug(
      {
        route: call.getPath(),
        status: grpc.status[status?.code ?? grpc.status.OK],
        durationMs: Math.round(performance.now() - began),
      },
      'request completed',
    );
  });
}

function whileWaiting(call: ServerUnaryCall<unknown, object>): StillWanted {
  // The caller sent a timeout, which grpc-js converts to wall-clock time; from here on only the monotonic clock is used.
  const deadline = Deadline.after(Number(call.getDeadline()) - Date.now());
  return () => {
    if (call.cancelled || deadline.expired) throw new AbandonedError('the caller has left');
  };
}

/** Details reach the caller: no SQL and no host name in them. */
function toStatus(error: unknown, logger: Logger): { code: number; details: string } {
  if (error instanceof InvalidRequestError) return { code: grpc.status.INVALID_ARGUMENT, details: error.message };
  if (error instanceof KeyReusedError) return { code: grpc.status.ALREADY_EXISTS, details: error.message };
  if (error instanceof AbandonedError) return { code: grpc.status.DEADLINE_EXCEEDED, details: error.message };
  if (isUniqueViolation(error)) {
    return { code: grpc.status.ALREADY_EXISTS, details: 'the idempotency key was used for another order' };
  }
  if (error instanceof DatabaseUnavailableError) {
    logger.warn({ err: error }, 'the database is unavailable');
    return { code: grpc.status.UNAVAILABLE, details: 'the service cannot reach its database, try again later' };
  }
  logger.error({ err: error }, 'unexpected failure');
  return { code: grpc.status.INTERNAL, details: 'the failure was logged under this trace id' };
}

/** SQLSTATE 23505: a release that carries the key of another order. */
function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '23505';
}
