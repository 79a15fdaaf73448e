import type { Client, Metadata, ServiceError } from '@grpc/grpc-js';
import type { AttemptOutcome } from '@shop/kit/attempt-outcomes.ts';
import type { Deadline } from '@shop/kit/deadline.ts';
import { ConnectionLostError, OutOfTimeError, PermanentError, TransientError } from '@shop/kit/failures.ts';
import { grpc, loadProto } from '@shop/kit/grpc.ts';
import type { Replica } from '@shop/kit/replica-picker.ts';
import type { Attempt, CallPolicy } from '@shop/kit/resilience.ts';
import { createGrpcClientSpans } from '@shop/kit/spans/grpc-calls.ts';
import { stockTarget } from './stock-target.ts';

export interface StockLine {
  readonly productId: number;
  readonly quantity: number;
}

/** `released`: the order was released before this call arrived, so nothing was taken. */
export type ReserveResult = 'reserved' | 'insufficient' | 'released';

export interface Stock {
  /** All lines or none. Rejects with CallUnavailableError when the outcome is unknown. */
  reserve(orderId: string, lines: readonly StockLine[], deadline: Deadline): Promise<ReserveResult>;
  /** Puts back what was, or may have been, reserved. Rejects when that is not certain. */
  release(orderId: string, deadline: Deadline): Promise<void>;
}

const OUTCOMES: Readonly<Record<string, ReserveResult>> = {
  RESERVE_OUTCOME_RESERVED: 'reserved',
  RESERVE_OUTCOME_INSUFFICIENT: 'insufficient',
  RESERVE_OUTCOME_RELEASED: 'released',
};

/** Status codes after which the same call may work, or may have worked (https://grpc.io/docs/guides/status-codes). */
const TRANSIENT = new Set([
  grpc.status.CANCELLED,
  grpc.status.RESOURCE_EXHAUSTED,
  grpc.status.ABORTED,
  grpc.status.INTERNAL,
  grpc.status.UNKNOWN,
]);

type Unary = (
  request: object,
  metadata: Metadata,
  options: { deadline: number },
  callback: (error: ServiceError | null, response?: { outcome?: string }) => void,
) => { cancel(): void };

/** A replica of stock, or the replicas behind one name. */
export interface StockReplica extends Replica, AsyncDisposable {
  /** One attempt. Rejects with OutOfTimeError, TransientError or PermanentError, by its status. */
  call(method: 'Reserve' | 'Release', request: object, attempt: Attempt): Promise<{ outcome?: string }>;
}

const CHANNEL_OPTIONS = {
  // Where a name has several addresses.
  'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.min_reconnect_backoff_ms': 100,
  // A replica that is back is used within the time between two probes.
  'grpc.max_reconnect_backoff_ms': 250,
  'grpc.enable_retries': 0,
  // Pods that are replaced get other addresses: a lost connection asks for them, and not half a minute later.
  'grpc.dns_min_time_between_resolutions_ms': 1_000,
  // HTTP/2 would keep a connection whose peer has silently disappeared for as long as the kernel does, a quarter of an
  // hour. Servers made with grpc-js take any number of pings. Source: https://grpc.io/docs/guides/keepalive
  'grpc.keepalive_time_ms': 3_000,
  'grpc.keepalive_timeout_ms': 1_000,
  'grpc.keepalive_permit_without_calls': 1,
};

/** A channel to `address`, `host:port`; it connects with the first call, and reconnects automatically. */
export function createStockReplica(address: string): StockReplica {
  const { stock } = grpc.loadPackageDefinition(loadProto('stock.proto')) as unknown as {
    stock: { Inventory: new (...args: ConstructorParameters<typeof grpc.Client>) => Client & Record<string, Unary> };
  };
  const client = new stock.Inventory(stockTarget(address), grpc.credentials.createInsecure(), CHANNEL_OPTIONS);
  const spans = createGrpcClientSpans('stock.Inventory', address);

  return {
    address,
    call(method, request, attempt) {
      return new Promise((resolve, reject) => {
        const unary = client[method] as Unary;
        const cancel = () => sent.cancel();
        const metadata = new grpc.Metadata();
        const traced = spans.start(method, metadata);
        // The deadline is sent to stock. It is of the wall clock, so that the end is the signal's.
        const options = { deadline: Date.now() + attempt.timeoutMs };
        const sent = unary.call(client, request, metadata, options, (error, response) => {
          traced?.endWithStatus(error);
          // A call with a response has nothing left to cancel.
          attempt.signal.removeEventListener('abort', cancel);
          if (error === null && response !== undefined) resolve(response);
          else reject(error === null ? new PermanentError(`stock: ${method} had no response`) : typed(method, error));
        });
        attempt.signal.addEventListener('abort', cancel, { once: true });
      });
    },
    check: (signal) => checkHealth(client, signal),
    async [Symbol.asyncDispose]() {
      client.close();
    },
  };
}

/** Statuses that are not of the server's making, or that it gives to no question for its health. */
const NO_RESPONSE = new Set([grpc.status.UNAVAILABLE, grpc.status.CANCELLED, grpc.status.DEADLINE_EXCEEDED]);

/**
 * Calls `grpc.health.v1.Health/Check` for the whole server. Any response will do: a server that is not ready lacks a
 * dependency, which its responses report. The request for the whole server is an empty message.
 * Source: https://github.com/grpc/grpc/blob/master/doc/health-checking.md
 */
function checkHealth(client: Client, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const nothing = () => Buffer.alloc(0);
    const cancel = () => sent.cancel();
    const sent = client.makeUnaryRequest('/grpc.health.v1.Health/Check', nothing, nothing, null, (error) => {
      signal.removeEventListener('abort', cancel);
      if (error === null || !NO_RESPONSE.has(error.code)) resolve();
      else reject(new TransientError(`stock: no response to a health check (${grpc.status[error.code]})`));
    });
    signal.addEventListener('abort', cancel, { once: true });
  });
}

function outcomeOf({ outcome = '' }: { readonly outcome?: string }): AttemptOutcome {
  const result = OUTCOMES[outcome];
  if (result === undefined) return 'failed';
  return result === 'insufficient' ? 'out_of_stock' : 'ok';
}

/** What orders asks of stock, at the replicas of `policy`. */
export function createStock(policy: CallPolicy<StockReplica>): Stock {
  return {
    async reserve(orderId, lines, deadline) {
      const request = { orderId, idempotencyKey: `${orderId}:reserve`, lines };
      const { outcome } = await policy.execute({ deadline, idempotent: true, key: orderId, outcomeOf }, (attempt) =>
        attempt.replica.call('Reserve', request, attempt),
      );
      const result = OUTCOMES[outcome ?? ''];
      if (result === undefined) throw new PermanentError(`stock: unexpected outcome ${outcome}`);
      return result;
    },
    async release(orderId, deadline) {
      const request = { orderId, idempotencyKey: `${orderId}:release` };
      await policy.execute({ deadline, idempotent: true, key: orderId }, (attempt) =>
        attempt.replica.call('Release', request, attempt),
      );
    },
  };
}

function typed(method: string, error: ServiceError): Error {
  const message = `stock: ${method} failed with ${grpc.status[error.code]}`;
  if (error.code === grpc.status.DEADLINE_EXCEEDED) return new OutOfTimeError(message, { cause: error });
  // Also of a server that says so itself: another replica is the better choice until this one responds to a probe.
  if (error.code === grpc.status.UNAVAILABLE) return new ConnectionLostError(message, { cause: error });
  const Type = TRANSIENT.has(error.code) ? TransientError : PermanentError;
  return new Type(message, { cause: error });
}
