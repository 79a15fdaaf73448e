import { randomUUID } from 'node:crypto';
import { type AuditTarget, openTarget } from '../audit/target.ts';
import { messageOf } from '../errors.ts';
import type { Style } from '../output/style.ts';
import type { PlatformConnection } from '../platform/connection.ts';
import type { Project } from '../platform/project.ts';
import type { ShopDatabases } from '../shop/databases.ts';
import {
  createGatewayClient,
  type GatewayClient,
  type OrderRequest,
  type PlaceResponse,
  RESPONSE_LIMIT_MS,
} from '../shop/gateway-client.ts';
import { createBackend, type TelemetryBackend } from '../trace/backend.ts';
import { CheckFailed, EvidenceMissing } from './check-errors.ts';
import { type CounterReading, readCounters } from './counters.ts';

/** The longest batch delay of spans is 500 ms, metrics are reported every second, and each has its way here. In ms. */
const EXPORT_MS = 2_000;

export type DecidedResponse = Extract<PlaceResponse, { kind: 'decided' }>;

/** What checks share: the platform, and the orders of this run, each placed once by the check that needs it first. */
export interface VerifyContext extends AsyncDisposable {
  readonly project: Project;
  readonly connection: PlatformConnection;
  readonly gateway: GatewayClient;
  readonly databases: ShopDatabases;
  readonly telemetry: TelemetryBackend;
  readonly audited: AuditTarget;
  readonly signal: AbortSignal;
  readonly style: Style;
  readonly env: NodeJS.ProcessEnv;
  /** The customer of every request of this run, found nowhere else. */
  readonly marker: string;
  /** Counters before the first order. */
  readonly before: Promise<CounterReading>;
  /** The order that can be paid: one unit of product 1, with an idempotency key. */
  readonly confirmed: Attempt;
  /** The order above the payment limit. */
  readonly declined: Attempt;
  /** The request of `confirmed` again, with its key. */
  readonly replayed: Attempt;
  /** The key of `confirmed` with another body. */
  readonly misused: Attempt;
  /** Spans, log lines and counts of a completed request are out within this time, ms. */
  readonly exportMs: number;
  /** Trace ids that this run has seen. */
  readonly traceIds: () => readonly string[];
}

/** One request of this run. */
export interface Attempt {
  readonly request: OrderRequest;
  /** Sends it when it is asked for first; later callers share the response. */
  response(): Promise<PlaceResponse>;
}

const confirmedLines = [{ productId: 1, quantity: 1 }] as const;
/** Product 12 alone costs more than payments accept (source: the catalog's seed). */
const declinedLines = [{ productId: 12, quantity: 1 }] as const;

export interface ContextOptions {
  readonly project: Project;
  readonly connection: PlatformConnection;
  readonly signal: AbortSignal;
  readonly style: Style;
  readonly env: NodeJS.ProcessEnv;
}

/** Makes the context of one run; sends nothing yet. */
export function createContext({ project, connection, signal, style, env }: ContextOptions): VerifyContext {
  const gateway = createGatewayClient(connection.gatewayUrl);
  const telemetry = createBackend(connection.telemetryUrl);
  const audited = openTarget(connection);
  const marker = `Verify ${randomUUID()}`;
  const idempotencyKey = `verify-${randomUUID()}`;
  const traceIds = new Set<string>();
  const before = readCounters(telemetry);
  // Awaited by the metrics check only, which reports the failure.
  before.catch(() => undefined);

  function attempt(request: OrderRequest, key: string | undefined, after?: () => Promise<unknown>): Attempt {
    let response: Promise<PlaceResponse> | undefined;
    const send = async () => {
      await before.catch(() => undefined);
      await after?.();
      const placed = await gateway.placeOrder(request, { idempotencyKey: key, timeoutMs: RESPONSE_LIMIT_MS, signal });
      if (placed.traceId !== null) traceIds.add(placed.traceId);
      return placed;
    };
    return {
      request,
      response() {
        response ??= send();
        return response;
      },
    };
  }

  const request = { customer: marker, lines: confirmedLines };
  const confirmed = attempt(request, idempotencyKey);
  return {
    project,
    connection,
    gateway,
    databases: audited.databases,
    telemetry,
    audited,
    signal,
    style,
    env,
    marker,
    before,
    confirmed,
    declined: attempt({ customer: marker, lines: declinedLines }, undefined),
    replayed: attempt(request, idempotencyKey, confirmed.response),
    misused: attempt({ customer: marker, lines: [{ productId: 1, quantity: 2 }] }, idempotencyKey, confirmed.response),
    exportMs: EXPORT_MS,
    traceIds: () => [...traceIds],
    [Symbol.asyncDispose]: () => audited[Symbol.asyncDispose](),
  };
}

/** The response when it decided an order. Throws CheckFailed that says what came instead. */
export async function decided({ response }: Attempt, expected: string): Promise<DecidedResponse> {
  const placed = await response().catch((error: unknown) => {
    throw new CheckFailed({ expected, observed: messageOf(error) });
  });
  if (placed.kind === 'decided') return placed;
  throw new CheckFailed({ expected, observed: describeResponse(placed) });
}

/** The trace of an order that ended as wanted, in the words of `describeResponse`. Throws EvidenceMissing otherwise: there is nothing to look at. */
export async function traceOf(attempt: Attempt, wanted: string, check: string): Promise<string> {
  const placed = await attempt.response().catch((error: unknown) => {
    throw new EvidenceMissing(`there is no such order (see "${check}"): ${messageOf(error)}`);
  });
  if (placed.kind !== 'decided' || describeResponse(placed) !== wanted) {
    throw new EvidenceMissing(`there is no such order (see "${check}"): ${describeResponse(placed)}`);
  }
  if (placed.traceId === null) throw new EvidenceMissing('the response has no traceparent header');
  return placed.traceId;
}

/** `201 Confirmed`, `200 Cancelled (payment declined)`, `503 orders_unreachable`. */
export function describeResponse(placed: PlaceResponse): string {
  if (placed.kind === 'problem') return `${placed.problem.status} ${placed.problem.code}: ${placed.problem.detail}`;
  const reason = placed.reason === null ? '' : ` (${placed.reason})`;
  return `${placed.httpStatus} ${placed.status}${reason}`;
}
