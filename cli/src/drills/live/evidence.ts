import { CliError } from '../../errors.ts';
import { nameOf } from '../../pager/alert.ts';
import type { Pager } from '../../pager/pager.ts';
import { readChanges } from '../../platform/change-log.ts';
import { lastWrittenAt } from '../../platform/log-reader.ts';
import type { Project } from '../../platform/project.ts';
import type { PlatformState } from '../../platform/state.ts';
import type { ShopDatabases } from '../../shop/databases.ts';
import { parseIdPrefix } from '../../shop/id-prefix.ts';
import { readOrder } from '../../shop/orders-table.ts';
import { edges } from '../../topology/services.ts';
import { createBackend } from '../../trace/backend.ts';
import { touchedBy } from './touched-by.ts';

/** What the evidence of a diagnosis names. */
export interface FoundEvidence {
  readonly reference: string;
  readonly at: Date;
  /** Processes that it is about, in the words of the vocabulary's components. */
  readonly touches: readonly string[];
}

export interface EvidenceSources {
  readonly project: Project;
  readonly pager: Pick<Pager, 'alerts'>;
  state(): PlatformState;
  withDatabases<T>(work: (databases: ShopDatabases) => Promise<T>): Promise<T>;
  now(): Date;
}

/** Processes that an alert is about, where its labels do not say. An alert on orders touches what serves all of them. */
const PLACES_OF_ALERTS: Readonly<Record<string, readonly string[]>> = {
  OutboxStalled: ['orders', 'rabbitmq'],
  CompensationsStuck: ['orders', 'payments', 'stock'],
  SagasStuck: ['orders'],
  QueueNotDraining: ['rabbitmq', 'shipping'],
  ShipmentsMissing: ['orders', 'rabbitmq', 'shipping'],
  ShipmentsLateBudgetBurn: ['rabbitmq', 'shipping'],
  DeadLetters: ['rabbitmq', 'shipping'],
};
const ORDER_PLACES = ['gateway', 'orders'];

const KINDS = ['trace', 'log', 'alert', 'order', 'change'] as const;

/** The evidence of a reference like `trace:4bf92f35`. Throws CliError (2) where it does not exist. */
export async function findEvidence(reference: string, sources: EvidenceSources): Promise<FoundEvidence> {
  const [kind = '', name = ''] = reference.split(/:(.*)/s);
  const find = FINDERS[kind as (typeof KINDS)[number]];
  if (name === '' || !Object.hasOwn(FINDERS, kind)) {
    throw new CliError({
      code: 'unknown_evidence',
      what: `"${reference}" names no evidence`,
      next: 'name a trace:ID, log:INSTANCE, log:SERVICE, alert:NAME, order:ID or change:ID',
    });
  }
  const found = await find(name, sources);
  if (found === undefined) {
    throw new CliError({
      code: 'unknown_evidence',
      what: `${reference} is not there`,
      next: NEXT[kind as (typeof KINDS)[number]],
    });
  }
  return { reference, ...found };
}

type Find = (name: string, sources: EvidenceSources) => Promise<Omit<FoundEvidence, 'reference'> | undefined>;

const NEXT: Readonly<Record<(typeof KINDS)[number], string>> = {
  trace: 'see "shopctl order show" for the trace of an order',
  log: 'see "shopctl logs" for the names of instances and services',
  alert: 'see "shopctl alerts ls" for what fires',
  order: 'see "shopctl order list" for orders',
  change: 'see "shopctl changes" for changes',
};

const FINDERS: Readonly<Record<(typeof KINDS)[number], Find>> = {
  async trace(id, { state }) {
    const backend = createBackend(state().telemetryUrl);
    const [full] = /^[0-9a-f]{32}$/.test(id) ? [id] : await backend.traceIds(id);
    if (full === undefined) return undefined;
    const { spans } = await backend.trace(full);
    const last = spans.map(({ endNanos }) => Number(endNanos / 1_000_000n)).reduce((a, b) => Math.max(a, b), 0);
    if (spans.length === 0) return undefined;
    return { at: new Date(last), touches: touchedBy(spans, state().edges) };
  },

  /** Of an instance, or of the instance of a service that has written last. */
  async log(name, { project, state }) {
    const named = state().instances.filter(({ name: instance, service }) => instance === name || service === name);
    const written = await Promise.all(
      named.map(async (one) => ({ ...one, at: await lastWrittenAt(project.logDir, one.name) })),
    );
    const found = written.flatMap(({ service, at }) => (at === undefined ? [] : [{ at, touches: [service] }]));
    return found.toSorted((a, b) => b.at.getTime() - a.at.getTime())[0];
  },

  /** One that fires is evidence of now. */
  async alert(name, { pager, now }) {
    const found = pager.alerts().filter(({ alert }) => nameOf(alert) === name);
    if (found.length === 0) return undefined;
    const named = found.flatMap(({ alert }) => {
      const { job, service, edge } = alert.labels;
      const ends = edges.filter((one) => one.name === edge).flatMap(({ from, to }) => [from, to]);
      return [job, service, ...ends];
    });
    const places = named.filter((one) => one !== undefined && one !== 'shopctl') as string[];
    return { at: now(), touches: [...new Set([...places, ...(PLACES_OF_ALERTS[name] ?? ORDER_PLACES)])] };
  },

  async order(id, { withDatabases }) {
    const range = parseIdPrefix(id, 'order');
    const order = await withDatabases((databases) => readOrder(databases, range)).catch((error: unknown) => {
      if (error instanceof CliError && error.code === 'order_not_found') return undefined;
      throw error;
    });
    return order && { at: order.updatedAt, touches: ORDER_PLACES };
  },

  async change(id, { project, state }) {
    const change = (await readChanges(project)).changes.find((one) => one.id === id);
    if (change === undefined) return undefined;
    const service = state().instances.find(({ name }) => name === change.target)?.service ?? change.target;
    return { at: new Date(change.time), touches: [service] };
  },
};
