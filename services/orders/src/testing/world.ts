import { ProblemError } from '@shop/kit/problems.ts';
import type { DecidedOrder } from '../place-order.ts';
import { type CompensationName, isEnded } from '../saga/saga.ts';
import { createFaultPlan, type Fault, type Outage, type ProcessFault } from './faults.ts';
import { type Instance, startInstance } from './instance.ts';
import { checkInvariants } from './invariants.ts';
import { createJournal, type Journal } from './journal.ts';
import { createNetwork } from './network.ts';
import { createOrdersStore, type OrdersStore, type StoreDefects, shortId } from './orders-store.ts';
import { createProcess, type SimulatedProcess } from './process.ts';
import {
  createPaymentsModel,
  createStockModel,
  type PaymentsDefects,
  type PaymentsModel,
  type StockDefects,
  type StockModel,
} from './services.ts';
import { createShippingModel, type ShippingDefects, type ShippingModel } from './shipping.ts';
import { inVirtualTime, type VirtualTime } from './virtual-time.ts';

/** What a client orders, and when. */
export interface ClientOrder {
  readonly atMs: number;
  readonly productId: number;
  readonly quantity: number;
  /** With a key the client asks again until it knows how its order ended. */
  readonly withKey: boolean;
}

/** One history: what clients ask for and what goes wrong. All of it ends, and then the world must converge. */
export interface History {
  readonly instances: number;
  readonly orders: readonly ClientOrder[];
  readonly faults: readonly Fault[];
  readonly outages: readonly Outage[];
}

/** Seeded defects of the surroundings, to see that the simulation finds them. */
export interface Defects {
  readonly store?: StoreDefects;
  readonly stock?: StockDefects;
  readonly payments?: PaymentsDefects;
  readonly shipping?: ShippingDefects;
}

/** An answer that a client got. */
export interface Told {
  readonly client: number;
  readonly order: DecidedOrder;
}

/** What is left when a history has ended. */
export interface Aftermath {
  readonly history: History;
  readonly store: OrdersStore;
  readonly stock: StockModel;
  readonly payments: PaymentsModel;
  readonly shipping: ShippingModel;
  readonly told: readonly Told[];
  readonly journal: Journal;
  /** Sagas counted by `shop.sagas`. */
  readonly counted: number;
}

/** Product 1 is plenty and cheap, two of product 2 are above the payment limit, product 3 is nearly sold out. */
export const PRICES: ReadonlyMap<number, number> = new Map([
  [1, 10_000],
  [2, 3_000_000],
  [3, 20_000],
]);
export const INVENTORY: ReadonlyMap<number, number> = new Map([
  [1, 100],
  [2, 100],
  [3, 1],
]);

/** Ms of virtual time within which all must have ended after the last order, and after the last fault was over. */
const CONVERGE_WITHIN_MS = 90_000;
const CLIENT_RETRY_MS = 700;
const CLIENT_TRIES = 150;
/** An answer is given within 10 s (docs/saga.md, "Budgets"). */
const ANSWER_WITHIN_MS = 10_000;

/** Plays a history to its end and checks the invariants. Returns what happened, for a test to look at. */
export function play(history: History, defects: Defects = {}): Promise<Aftermath> {
  return inVirtualTime(async (time) => {
    const aftermath = await live(history, defects, time);
    checkInvariants(aftermath);
    return aftermath;
  });
}

async function live(history: History, defects: Defects, time: VirtualTime): Promise<Aftermath> {
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
  const surroundings = { network, plan, store, stock, payments, shipping, prices: PRICES, metrics, compensating };
  const instances: Instance[] = [];
  const started: Instance[] = [];

  function start(slot: number): void {
    const process = createProcess(`orders-${slot + 1}`, time, journal);
    const instance = startInstance(process, surroundings, (victim, place, fault) => strike(slot, victim, place, fault));
    instances[slot] = instance;
    started.push(instance);
  }

  function strike(slot: number, victim: SimulatedProcess, place: string, fault: ProcessFault): void {
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
  store.isDriven = (owner, id) => started.some((instance) => instance.owner === owner && instance.drives(id));

  const told: Told[] = [];
  const clients = history.orders.map((order, index) =>
    runClient({ order, index, instances, time, journal, store, told: (answer) => void told.push(answer) }),
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
      network.underway === 0 &&
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
  return { history, store, stock, payments, shipping, told, journal, counted };
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

/** Orders once; with a key it asks again, at the next instance, until it is told how its order ended. */
async function runClient(options: {
  order: ClientOrder;
  index: number;
  instances: readonly Instance[];
  time: VirtualTime;
  journal: Journal;
  store: OrdersStore;
  told: (answer: Told) => void;
}): Promise<void> {
  const { order, index, instances, time, journal, store, told } = options;
  const name = `client ${index}`;
  const wait = (ms: number) => new Promise<void>((resolve) => time.after(ms, resolve));
  await wait(order.atMs);
  for (let attempt = 0; attempt < CLIENT_TRIES; attempt += 1) {
    const instance = instances[(index + attempt) % instances.length] as Instance;
    const askedAt = time.now();
    try {
      const answer = await ask(instance, order, index);
      journal.note(name, `is told ${shortId(answer.id)} ${answer.status} ${answer.reason ?? ''}`);
      told({ client: index, order: answer });
      const row = store.orders.get(answer.id);
      if (row?.status !== answer.status) journal.violated(`I2 ${answer.status} was told before it was durable`);
      return;
    } catch (error) {
      journal.note(name, `has no answer: ${error instanceof ProblemError ? error.code : error}`);
      if (!order.withKey) return;
    } finally {
      const took = time.now() - askedAt;
      if (took > ANSWER_WITHIN_MS) journal.violated(`${name} waited ${took} ms for its answer`);
    }
    await wait(CLIENT_RETRY_MS);
  }
  journal.violated(`${name} was never told how its order ended`);
}

/** Rejects when the connection breaks, or the client's own patience ends. */
function ask(instance: Instance, order: ClientOrder, index: number): Promise<DecidedOrder> {
  const request = {
    customer: `client ${index}`,
    lines: [{ productId: order.productId, quantity: order.quantity }],
  };
  return new Promise((resolve, reject) => {
    if (!instance.process.alive) return reject(new Error('connection refused'));
    const timer = setTimeout(() => reject(new Error('the client left')), ANSWER_WITHIN_MS);
    instance.process.onDeath(() => reject(new Error('connection reset')));
    instance
      .place(request, order.withKey ? `key-${index}` : undefined)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}
