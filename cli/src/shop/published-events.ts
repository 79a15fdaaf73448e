import { stat } from 'node:fs/promises';
import { ORDER_CONFIRMED, ORDER_CONFIRMED_V2 } from '@shop/kit/event-schemas.ts';
import { CliError } from '../errors.ts';
import { flagFile, flagFolder } from '../platform/flag-file.ts';
import type { Project } from '../platform/project.ts';
import { pollFor } from '../shared/wait-until.ts';
import type { TraceBackend } from '../trace/backend.ts';
import { type ContractParameters, type ExpectedSpan, expectedTree, type TraceContract } from '../trace/contract.ts';
import type { TraceSpan } from '../trace/tree.ts';
import type { ShopDatabases } from './databases.ts';

/*
 * Which versions of order.confirmed an order's trace has to have. They are never read from the spans that are asserted: a
 * trace with the spans of version 2 would be right because it has them. The flag says it, by the order's id. Where the flag
 * changed about when the order was decided, only the service knows which value it had. The rows of the outbox, written with
 * the decision, say it then (decision 0127).
 */

/** The parameter of contracts in which the event is published: how often its version 2 is. */
const VERSION_2 = 'orderConfirmedV2';
const FLAG = 'publish-order-confirmed-v2';

/** Services follow a changed file within a second, on a machine that does other things; in ms. */
const FOLLOWED_MS = 5_000;
const POLL_MS = 100;

/** Where it is known from. */
export interface EventSources {
  readonly project: Pick<Project, 'stateDir'>;
  /** The types of an order's events in the outbox. */
  outboxTypes(orderId: string): Promise<readonly string[]>;
}

/** Events of an order, and what says so. */
export interface PublishedEvents {
  readonly types: readonly string[];
  /** `default`: there is no file of flags, so that all are off. */
  readonly by: 'default' | 'flag' | 'outbox';
}

/** What a trace is compared with. */
export interface OrderContract {
  readonly expected: ExpectedSpan;
  /** Undefined where the contract has no event, or the caller has said how many there are. */
  readonly events?: PublishedEvents;
}

export interface OrderContractOptions extends EventSources {
  readonly contract: TraceContract;
  readonly parameters?: ContractParameters | undefined;
  readonly backend: TraceBackend;
  readonly traceId: string;
  /** For how long the saga is waited for whose id the flag is evaluated by, ms. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** The contract's tree for one order, with the versions of the event that had to be published for it. Rejects with CliError. */
export async function orderContract(options: OrderContractOptions): Promise<OrderContract> {
  const { contract, parameters = {} } = options;
  if (!(VERSION_2 in contract.parameters) || parameters[VERSION_2] !== undefined) {
    return { expected: expectedTree(contract, parameters) };
  }
  const events = await publishedEvents(options);
  const times = events.types.includes(ORDER_CONFIRMED_V2) ? 1 : 0;
  return { expected: expectedTree(contract, { ...parameters, [VERSION_2]: times }), events };
}

/** Reads the outbox where an order's flag does not say it. */
export const outboxTypesIn =
  ({ query }: Pick<ShopDatabases, 'query'>): EventSources['outboxTypes'] =>
  async (orderId) => {
    const rows = await query<{ type: string }>('orders', 'SELECT type FROM outbox WHERE order_id = $1 ORDER BY seq', [
      orderId,
    ]);
    return rows.map(({ type }) => type);
  };

/** `order.confirmed v1 and v2`; empty where only version 1 was to be published. */
export function describeEvents({ types, by }: PublishedEvents): string {
  if (!types.includes(ORDER_CONFIRMED_V2)) return '';
  return `${ORDER_CONFIRMED} v1 and v2 (by ${by === 'flag' ? `the flag ${FLAG}` : 'its outbox: the flag changed then'})`;
}

async function publishedEvents(options: OrderContractOptions): Promise<PublishedEvents> {
  const file = flagFile(flagFolder(options.project));
  if (!(await isThere(file))) return { types: [ORDER_CONFIRMED], by: 'default' };
  const saga = await awaitSaga(options);
  // Without its saga the trace has most of its contract missing, whatever its events are.
  if (saga === undefined) return { types: [ORDER_CONFIRMED], by: 'default' };
  const flag = await flagFor(saga.orderId, file);
  if (flag !== undefined && flag.changedAt + FOLLOWED_MS <= saga.beganAt) {
    return { types: flag.isOn ? [ORDER_CONFIRMED, ORDER_CONFIRMED_V2] : [ORDER_CONFIRMED], by: 'flag' };
  }
  return { types: await options.outboxTypes(saga.orderId), by: 'outbox' };
}

interface SagaOfTrace {
  readonly orderId: string;
  /** Before the flag was evaluated for it; ms since 1970. */
  readonly beganAt: number;
}

function awaitSaga({ backend, traceId, timeoutMs, signal }: OrderContractOptions): Promise<SagaOfTrace | undefined> {
  const look = async () => sagaIn((await backend.trace(traceId)).spans);
  return pollFor(look, { everyMs: POLL_MS, limitMs: timeoutMs, signal });
}

const SAGAS: readonly string[] = ['order saga', 'recover order saga'];

/** The first of them: one that was recovered has begun before it. */
function sagaIn(spans: readonly TraceSpan[]): SagaOfTrace | undefined {
  const saga = spans.find(({ service, name }) => service === 'orders' && SAGAS.includes(name));
  const orderId = saga?.attributes['shop.order.id'];
  if (saga === undefined || typeof orderId !== 'string') return undefined;
  return { orderId, beganAt: Number(saga.startNanos / 1_000_000n) };
}

/** The value for this order, and since when the file is as it is; undefined where it cannot be read: services keep what they had. */
async function flagFor(orderId: string, file: string): Promise<{ isOn: boolean; changedAt: number } | undefined> {
  // Loaded where there are flags: their evaluation is the larger part of what `order` loads.
  const [{ readFlags }, { createFlagProvider }, { offDefinition }] = await Promise.all([
    import('../platform/flag-store.ts'),
    import('@shop/kit/flag-provider.ts'),
    import('@shop/kit/flag-file.ts'),
  ]);
  try {
    const content = await readFlags(file);
    // After the read: a file that was replaced meanwhile counts as changed now.
    const { mtimeMs } = await stat(file);
    const provider = createFlagProvider();
    provider.load({ ...content, flags: { [FLAG]: content.flags[FLAG] ?? offDefinition } });
    const { value } = await provider.resolveBooleanEvaluation(FLAG, false, { targetingKey: orderId }, console);
    return { isOn: value, changedAt: mtimeMs };
  } catch (error) {
    if (error instanceof CliError || isAbsence(error)) return undefined;
    throw error;
  }
}

async function isThere(file: string): Promise<boolean> {
  try {
    await stat(file);
    return true;
  } catch (error) {
    if (isAbsence(error)) return false;
    throw error;
  }
}

const isAbsence = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT';
