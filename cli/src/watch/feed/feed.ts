import { setTimeout as delay } from 'node:timers/promises';
import { createChaosClient } from '../../chaos/chaos-client.ts';
import { CliError, messageOf } from '../../errors.ts';
import { createPagerClient } from '../../pager/pager-client.ts';
import type { PlatformConnection } from '../../platform/connection.ts';
import { type ControlClient, createControlClient } from '../../platform/control-client.ts';
import type { PlatformEvent } from '../../platform/events.ts';
import type { Project } from '../../platform/project.ts';
import type { PlatformState } from '../../platform/state.ts';
import { openShopDatabases, type ShopDatabases } from '../../shop/databases.ts';
import { countOpenSagas } from '../../shop/open-sagas.ts';
import { listOrders } from '../../shop/orders-table.ts';
import { countPendingRows } from '../../shop/outbox-table.ts';
import { createBackend, type TelemetryBackend } from '../../trace/backend.ts';
import { watchedMetrics } from '../model/figures.ts';
import type { Message, Source } from '../model/model.ts';

/** A platform that can be asked; another one after a restart. */
export interface Reach {
  readonly connection: PlatformConnection;
  readonly databases: ShopDatabases;
  readonly telemetry: TelemetryBackend;
}

export interface Feed {
  /** Undefined until the platform has responded. */
  reach(): Reach | undefined;
  /** Asks everything again now. */
  refresh(): void;
  /** Nothing is asked any more. Resolves when the databases are closed, within half a second. */
  end(): Promise<void>;
}

export interface FeedOptions {
  readonly project: Project;
  connect(project: Project): Promise<PlatformConnection>;
  dispatch(message: Message): void;
}

/** Services export once a second, so that asking more often would show nothing new. */
const EVERY_MS = 1_000;
const RECENT_ORDERS = 50;
const CLOSE_LIMIT_MS = 500;
/** Pause before the supervisor's events are followed again, ms. */
const RECONNECT_MS = 1_000;

/**
 * Asks supervisor, telemetry and databases once a second, and follows the supervisor's events: each event has the other
 * sources asked immediately. A source that does not respond is reported as such and asked again; none waits for
 * another.
 */
export function startFeed({ project, connect, dispatch }: FeedOptions): Feed {
  const control = createControlClient(project);
  const chaos = createChaosClient(project);
  const pager = createPagerClient(project);
  const over = new AbortController();
  let reach: (Reach & { readonly key: string }) | undefined;

  async function readState(): Promise<void> {
    const state = await control.state();
    if (reach?.key !== keyOf(state)) await reconnect(state);
    dispatch({ type: 'state', state });
  }

  async function reconnect(state: PlatformState): Promise<void> {
    const connection = await connect(project);
    const before = reach;
    const databases = openShopDatabases(connection.databaseUrls);
    reach = { connection, databases, telemetry: createBackend(connection.telemetryUrl), key: keyOf(state) };
    await before?.databases[Symbol.asyncDispose]();
  }

  async function readMetrics(): Promise<void> {
    if (reach === undefined) return;
    const points = await reach.telemetry.metrics(watchedMetrics);
    dispatch({ type: 'metrics', sample: { time: Date.now(), points } });
  }

  async function readShop(): Promise<void> {
    if (reach === undefined) return;
    const { databases } = reach;
    const [orders, open, pending] = await Promise.all([
      listOrders(databases, { limit: RECENT_ORDERS }),
      countOpenSagas(databases),
      countPendingRows(databases),
    ]);
    dispatch({ type: 'shop', shop: { orders, open, pending } });
  }

  async function readFaults(): Promise<void> {
    // A round has no fault in the list, and its journal has each question for it as a look at what keeps the failure.
    const { drill } = await control.state();
    const leases = drill === undefined ? await chaos.list() : [];
    dispatch({ type: 'faults', leases });
  }

  async function readPages(): Promise<void> {
    const { alerts } = await pager.view();
    const open = alerts.filter(({ severity, state }) => severity === 'page' && state === 'firing');
    dispatch({ type: 'pages', pages: open.length });
  }

  const asks = [
    createAsk('platform', readState, dispatch),
    createAsk('telemetry', readMetrics, dispatch),
    createAsk('databases', readShop, dispatch),
    createAsk('faults', readFaults, dispatch),
    createAsk('pages', readPages, dispatch),
  ];
  const refresh = () => {
    for (const ask of asks) ask.again();
  };
  const round = () => {
    dispatch({ type: 'tick', nowMs: Date.now() });
    for (const ask of asks) ask.now();
  };
  round();
  const timer = setInterval(round, EVERY_MS);
  void followEvents(control, over.signal, (event) => {
    dispatch({ type: 'event', event });
    refresh();
  });

  return {
    reach: () => reach,
    refresh,
    async end() {
      clearInterval(timer);
      over.abort();
      // A database that does not respond must not delay a user who leaves.
      const closed = reach?.databases[Symbol.asyncDispose]();
      await Promise.race([closed, delay(CLOSE_LIMIT_MS)]);
    },
  };
}

/** Everything that decides where the platform is reached. */
function keyOf({ supervisor, telemetryUrl, gatewayUrl, instances }: PlatformState): string {
  const addresses = instances.flatMap(({ address }) => (address ? [`${address.host}:${address.port}`] : []));
  return JSON.stringify([supervisor, telemetryUrl, gatewayUrl, addresses]);
}

/**
 * One source, never asked twice at a time: `again` has it asked once more when its present response may be old already.
 */
function createAsk(source: Source, read: () => Promise<void>, dispatch: (message: Message) => void) {
  let asking: Promise<void> | undefined;
  let again = false;
  const run = async () => {
    do {
      again = false;
      try {
        await read();
      } catch (error) {
        dispatch({ type: 'failed', source, why: error instanceof CliError ? error.what : messageOf(error) });
      }
    } while (again);
    asking = undefined;
  };
  return {
    now() {
      asking ??= run();
    },
    again() {
      if (asking === undefined) asking = run();
      else again = true;
    },
  };
}

/** Calls back for each event from now on, also those of a platform that is started later, until the signal aborts. */
async function followEvents(
  control: ControlClient,
  signal: AbortSignal,
  take: (event: PlatformEvent) => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const event of control.events({ follow: true, signal })) take(event);
    } catch {
      // Whether the platform is there is found out by asking for its state; here it is only tried again.
    }
    await delay(RECONNECT_MS, undefined, { signal }).catch(() => undefined); // Aborted: looked at next.
  }
}
