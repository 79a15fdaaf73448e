import { ProblemError } from '@shop/kit/problems.ts';
import type { DecidedOrder } from '../place-order.ts';
import { type CompensationName, isEnded } from '../saga/saga.ts';
import { createFaultPlan, type ProcessFault } from './faults.ts';
import type { ClientOrder, History } from './history.ts';
import { type Instance, startInstance } from './instance.ts';
import { checkInvariants } from './invariants.ts';
import { createJournal, type Journal } from './journal.ts';
import { createNetwork } from './network.ts';
import { createOrdersStore, type OrdersStore, type StoreDefects, shortId } from './orders-store.ts';
import { createProcess, type SimulatedProcess } from './process.ts';
import { INVENTORY, PRICES } from './products.ts';
import { createPaymentsModel, createStockModel, type PaymentsDefects, type StockDefects } from './services.ts';
import { createShippingModel, type ShippingDefects } from './shipping.ts';
import type { ClientResponse, SimulationResult } from './simulation-result.ts';
import { inVirtualTime, type VirtualTime } from './virtual-time.ts';

/** Seeded defects of the environment, to see that the simulation finds them. */
export interface Defects {
  readonly store?: StoreDefects;
  readonly stock?: StockDefects;
  readonly payments?: PaymentsDefects;
  readonly shipping?: ShippingDefects;
}

/** Ms of virtual time within which all must have ended after the last order, and after the last fault. */
const CONVERGE_WITHIN_MS = 90_000;
const CLIENT_RETRY_MS = 700;
const CLIENT_TRIES = 150;
/** A response is sent within 10 s (docs/saga.md, "Budgets"). */
const RESPONSE_WITHIN_MS = 10_000;

/** Plays a history to its end and checks the invariants. Returns what happened, for a test to look at. */
export function play(history: History, defects: Defects = {}): Promise<SimulationResult> {
  return inVirtualTime(async (time) => {
    const result = await simulate(history, defects, time);
    checkInvariants(result);
    return result;
  });
}

async function simulate(history: History, defects: Defects, time: VirtualTime): Promise<SimulationResult> {
  const journal = createJournal(time.now);
  const plan = createFaultPlan(history.faults, time.now);
  const store = createOrdersStore({ now: time.now, journal, defects: defects.store ?? {} });
  const stock = createStockModel(INVENTORY, journal, defects.stock ?? {});
  const payments = createPaymentsModel(journal, defects.payments ?? {});
  const shipping = createShippingModel({ time, plan, journal, defects: defects.shipping ?? {} });
  const network = createNetwork({ time, plan, outages: history.outages, journal });
  let counted = 0;
  const metrics = {
    sagaDecided: () => {
      counted += 1;
    },
    sagaRecovered: () => undefined,
    compensationFailed: () => undefined,
  };
  const compensating = watchOrderOfCompensations(journal);
  const environment = { network, plan, store, stock, payments, shipping, prices: PRICES, metrics, compensating };
  const instances: Instance[] = [];
  const started: Instance[] = [];

  function start(slot: number): void {
    const process = createProcess(`orders-${slot + 1}`, time, journal);
    const instance = startInstance(process, environment, (victim, place, fault) =>
      applyFault(slot, victim, place, fault),
    );
    instances[slot] = instance;
    started.push(instance);
  }

  function applyFault(slot: number, victim: SimulatedProcess, place: string, fault: ProcessFault): void {
    if (!victim.alive || victim.paused) return;
    journal.note(victim.name, `reached ${place}`);
    if (fault.kind === 'pause') {
      victim.pause(fault.ms);
      return;
    }
    victim.kill();
    time.after(fault.restartAfterMs, () => {
      journal.note(victim.name, 'is started again');
      start(slot);
    });
  }

  for (let slot = 0; slot < history.instances; slot += 1) start(slot);
  store.isActive = (owner, id) => started.some((instance) => instance.owner === owner && instance.isActive(id));

  const responses: ClientResponse[] = [];
  const clients = history.orders.map((order, index) =>
    runClient({
      order,
      index,
      instances,
      time,
      journal,
      store,
      onResponse: (response) => void responses.push(response),
    }),
  );
  let clientsDone = false;
  const all = Promise.all(clients).then(() => {
    clientsDone = true;
  });

  // Faults can follow one another, as when a message is delayed at each of its deliveries: what counts is the last one.
  const lastKnown = Math.max(
    ...history.orders.map(({ atMs }) => atMs),
    ...history.outages.map(({ fromMs, forMs }) => fromMs + forMs),
  );
  const converged = await time.runUntil(
    () =>
      clientsDone &&
      network.inFlight === 0 &&
      shipping.queued === 0 &&
      instances.every(({ process }) => process.alive && !process.paused) &&
      [...store.orders.values()].every(({ state }) => isEnded(state)) &&
      store.outbox.every(({ published }) => published),
    () => Math.max(lastKnown, plan.overAt) + CONVERGE_WITHIN_MS,
  );
  if (converged) await all;
  else
    journal.violated(
      `I1 not everything has ended ${CONVERGE_WITHIN_MS} ms after the last fault${clientsDone ? '' : ': a client waits'}`,
    );
  return { history, store, stock, payments, shipping, responses, journal, counted };
}

/** What was done last is undone first: once stock was released, no refund is tried for the first time. */
function watchOrderOfCompensations(journal: Journal): (name: CompensationName, orderId: string) => void {
  const tried = new Map<string, Set<CompensationName>>();
  return (name, orderId) => {
    const earlier = tried.get(orderId) ?? new Set();
    if (name === 'refund payment' && earlier.has('release stock') && !earlier.has(name)) {
      journal.violated(`the order of compensations: stock of ${shortId(orderId)} was released before the refund`);
    }
    tried.set(orderId, earlier.add(name));
  };
}

/** Orders once; with a key it asks again, at the next instance, until it knows how its order ended. */
async function runClient(options: {
  order: ClientOrder;
  index: number;
  instances: readonly Instance[];
  time: VirtualTime;
  journal: Journal;
  store: OrdersStore;
  onResponse: (response: ClientResponse) => void;
}): Promise<void> {
  const { order, index, instances, time, journal, store, onResponse } = options;
  const name = `client ${index}`;
  const wait = (ms: number) => new Promise<void>((resolve) => time.after(ms, resolve));
  await wait(order.atMs);
  for (let attempt = 0; attempt < CLIENT_TRIES; attempt += 1) {
    const instance = instances[(index + attempt) % instances.length] as Instance;
    const sentAt = time.now();
    try {
      const decided = await send(instance, order, index);
      journal.note(name, `receives ${shortId(decided.id)} ${decided.status} ${decided.reason ?? ''}`);
      onResponse({ client: index, order: decided });
      const row = store.orders.get(decided.id);
      if (row?.status !== decided.status) journal.violated(`I2 ${decided.status} was reported before it was durable`);
      return;
    } catch (error) {
      journal.note(name, `has no response: ${error instanceof ProblemError ? error.code : error}`);
      if (!order.withKey) return;
    } finally {
      const took = time.now() - sentAt;
      if (took > RESPONSE_WITHIN_MS) journal.violated(`${name} waited ${took} ms for its response`);
    }
    await wait(CLIENT_RETRY_MS);
  }
  journal.violated(`${name} never learned how its order ended`);
}

/** Rejects when the connection breaks, or the client's own patience ends. */
function send(instance: Instance, order: ClientOrder, index: number): Promise<DecidedOrder> {
  const request = {
    customer: `client ${index}`,
    lines: [{ productId: order.productId, quantity: order.quantity }],
  };
  return new Promise((resolve, reject) => {
    if (!instance.process.alive) return reject(new Error('connection refused'));
    const timer = setTimeout(() => reject(new Error('the client left')), RESPONSE_WITHIN_MS);
    instance.process.onDeath(() => reject(new Error('connection reset')));
    instance
      .place(request, order.withKey ? `key-${index}` : undefined)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}
