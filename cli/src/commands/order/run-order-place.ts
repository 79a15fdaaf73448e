import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { CliError } from '../../errors.ts';
import type { PlatformConnection } from '../../platform/connection.ts';
import { assertNoStuckFaults } from '../../platform/orphaned-faults.ts';
import type { Project } from '../../platform/project.ts';
import { formatDuration } from '../../shared/duration.ts';
import { withShopDatabases } from '../../shop/databases.ts';
import { createGatewayClient, type OrderRequest, type PlaceResponse } from '../../shop/gateway-client.ts';
import { parseIdPrefix } from '../../shop/id-prefix.ts';
import { paintStatus } from '../../shop/order-page.ts';
import { awaitTrace, type OrderTrace } from '../../shop/order-trace.ts';
import { readOrder } from '../../shop/orders-table.ts';
import { problemError } from '../../shop/problem-advice.ts';
import { outboxTypesIn } from '../../shop/published-events.ts';
import { createBackend } from '../../trace/backend.ts';
import { renderTrace } from '../../trace/render.ts';
import { nodesOf } from '../../trace/tree.ts';

export interface ProductChoice {
  readonly productId: number;
  /** Undefined: that of --quantity. */
  readonly quantity: number | undefined;
}

export interface OrderPlaceOptions extends CommonOptions {
  readonly product: readonly ProductChoice[];
  readonly quantity: number;
  readonly customer: string;
  readonly idempotencyKey?: string;
  /** False with --no-trace. */
  readonly trace: boolean;
  /** Seconds. */
  readonly timeout: number;
}

type Decided = Extract<PlaceResponse, { kind: 'decided' }>;

/** Places one order through the gateway and shows the response and its trace. Throws CliError for a problem. */
export async function runOrderPlace(options: OrderPlaceOptions, deps: CommandDeps): Promise<void> {
  const { output, signal } = deps;
  const project = deps.projectFrom(options);
  const request = toRequest(options);
  const connection = await deps.connect(project);
  if (connection.gatewayUrl === '') throw noGateway();
  assertNoStuckFaults(connection.state.faults);
  const timeoutMs = options.timeout * 1000;

  const response = await createGatewayClient(connection.gatewayUrl).placeOrder(request, {
    idempotencyKey: options.idempotencyKey,
    timeoutMs,
    signal,
  });
  if (response.kind === 'problem') throw problemError(response);
  const isReplay = options.idempotencyKey !== undefined && (await isRepeated(connection, response, deps));
  if (output.mode === 'text') output.result(response, () => describeResponse(response, isReplay, deps));

  const trace = options.trace
    ? await traceOf(response, { isReplay, request, connection, timeoutMs, project }, deps)
    : undefined;
  if (output.mode === 'json') output.result(jsonOf(response, isReplay, trace), () => '');
  else if (trace !== undefined && trace.spans > 0) output.result(trace, ({ tree }) => `\n${renderTrace(tree, output)}`);
}

function noGateway(): CliError {
  return new CliError({
    code: 'component_not_running',
    what: 'the gateway does not run',
    why: 'the platform was started without it',
    next: 'start it with "shopctl up"',
  });
}

function toRequest({ product, quantity, customer }: OrderPlaceOptions): OrderRequest {
  const chosen = product.length > 0 ? product : [{ productId: 1, quantity: undefined }];
  return {
    customer,
    lines: chosen.map((line) => ({ productId: line.productId, quantity: line.quantity ?? quantity })),
  };
}

/**
 * The order of a repeated key was recorded under the trace of its first request. The response stands whether or not the
 * database has the trace, so a database that does not respond is a warning.
 */
async function isRepeated(
  connection: PlatformConnection,
  { id, traceId }: Decided,
  { output }: CommandDeps,
): Promise<boolean> {
  try {
    const order = await withShopDatabases(connection, (databases) => readOrder(databases, parseIdPrefix(id, 'order')));
    return traceId !== null && order.traceId !== null && order.traceId !== traceId;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    output.warn(`whether this key was used before is not known: ${error.message}`);
    return false;
  }
}

function describeResponse(response: Decided, isReplay: boolean, { output }: CommandDeps): string {
  const { id, status, reason, httpStatus, tookMs, traceId } = response;
  const why = reason === null ? '' : `: ${reason}`;
  const replay = isReplay ? ', the response to the first request with this key' : '';
  const lines = [
    `${paintStatus(status, output)}${why} (HTTP ${httpStatus}, ${formatDuration(tookMs)}${replay})`,
    `order ${id}`,
    ...(traceId === null ? [] : [`trace ${traceId}`]),
  ];
  return lines.join('\n');
}

interface TraceOptions {
  readonly isReplay: boolean;
  readonly request: OrderRequest;
  readonly connection: PlatformConnection;
  readonly timeoutMs: number;
  readonly project: Project;
}

/** The order has its response; whatever hides its trace is a warning. */
async function traceOf(response: Decided, options: TraceOptions, deps: CommandDeps): Promise<OrderTrace | undefined> {
  const { output, signal } = deps;
  if (response.traceId === null) {
    output.warn('the response names no trace: telemetry is off');
    return undefined;
  }
  const progress = output.progress('waiting for the trace');
  try {
    const trace = await awaitTrace({
      ...options,
      root: options.project.root,
      outboxTypes: (id) => withShopDatabases(options.connection, (databases) => outboxTypesIn(databases)(id)),
      backend: createBackend(options.connection.telemetryUrl),
      traceId: response.traceId,
      contract: contractOf(response, options.isReplay),
      distinctProducts: new Set(options.request.lines.map(({ productId }) => productId)).size,
      signal,
    });
    progress.stop();
    if (trace.note !== null) output.warn(`trace: ${trace.note}`);
    return trace;
  } catch (error) {
    progress.stop();
    if (!(error instanceof CliError)) throw error;
    output.warn(`the order has its response, its trace cannot be shown: ${error.message}`);
    return undefined;
  }
}

function contractOf({ status, reason }: Decided, isReplay: boolean): 'confirmed' | 'declined' | 'replayed' | undefined {
  if (isReplay) return 'replayed';
  if (status === 'Confirmed') return 'confirmed';
  return reason === 'payment declined' ? 'declined' : undefined;
}

function jsonOf({ kind: _, ...response }: Decided, isReplay: boolean, trace: OrderTrace | undefined): object {
  const tookMs = Math.round(response.tookMs * 10) / 10;
  return {
    ...response,
    tookMs,
    replayed: isReplay,
    trace:
      trace === undefined
        ? null
        : {
            spans: nodesOf(trace.tree).length,
            complete: trace.note === null,
            note: trace.note,
            events: trace.events?.types ?? [],
          },
  };
}
