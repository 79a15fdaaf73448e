import amqp from 'amqplib';
import { ORDER_CONFIRMED_QUEUE } from '../../../kit/src/topology.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import type { Bench } from '../bench.ts';
import { alternate, type Case, type Shot } from '../measure/cases.ts';
import { cpuBetween, readCpu } from '../measure/cpu.ts';
import { drainShot } from '../measure/drain-shot.ts';
import { startWorker, type Worker } from '../measure/worker.ts';
import { caseRow, found, number, type Section } from '../section.ts';
import { fillBacklog, removeBacklog } from '../subjects/fill.ts';
import type { Publishing } from '../subjects/publish-worker.ts';
import { ownerUrls, type Shop } from '../subjects/shop.ts';
import { command } from '../subjects/stopped.ts';

/** What the relay has in flight while there is a backlog: two batches of 500. */
const IN_FLIGHT = 1_000;
/** About the size of an event. */
const EVENT_BYTES = 430;
const LIMIT_MS = 300_000;

let nextRow = 20_000_000;

/** (d) A backlog drained by the relay, against the same number of bare publishes with confirms on the same queue. */
export async function measureRelay(bench: Bench): Promise<Section> {
  const events = bench.options.quick ? 4_000 : 20_000;
  const [traced, metered] = [await bench.shop('traced'), await bench.shop('metered')];
  await using publisher = startWorker(new URL('../subjects/publish-worker.ts', import.meta.url));
  const bare = `bare publish, ${IN_FLIGHT} in flight`;
  const cases: Case[] = [
    { name: 'relay, tracing on', run: () => drain(traced, events) },
    { name: 'relay, tracing off', run: () => drain(metered, events) },
    { name: bare, run: () => publish(publisher, traced, events) },
  ];
  const measured = await withoutShipping([traced, metered], async () => {
    bench.say('a shot of each case that does not count');
    for (const one of cases) await one.run();
    return alternate(cases, { ...bench.options, say: bench.say });
  });
  const rate = (name: string) => found(measured, name).perSecond.median;
  return {
    headers: ['case', 'events/s (range)', 'CPU ms an event (range)', 'CPU ms by process'],
    rows: measured.map((one) => caseRow(one).filter((_, column) => column !== 2 && column !== 3)),
    targets: [
      {
        what: 'relay drain, of bare publishing, neither of them traced',
        value: rate('relay, tracing off') / rate(bare),
        atLeast: 0.5,
      },
    ],
    notes: [
      `With its three spans an event: ${number(rate('relay, tracing on') / rate(bare))}.`,
      `${events} events, shipping stopped, each process warm by a shot like these; a statement marks each batch of events. Bare publishing makes no spans.`,
      `Rates of the relay go from the mark of event ${IN_FLIGHT} to the last one's, of bare publishing from confirm to confirm.`,
    ],
    measured,
  };
}

/** What is in the queue afterwards belongs to no order, and is discarded. */
async function withoutShipping<T>(shops: readonly Shop[], work: () => Promise<T>): Promise<T> {
  for (const { platform } of shops) await command(platform, 'stop', 'shipping');
  const result = await work();
  for (const { platform } of shops) await command(platform, 'start', 'shipping');
  return result;
}

async function drain(shop: Shop, events: number): Promise<Shot> {
  const { platform } = shop;
  const owners = await ownerUrls(platform);
  const range = { from: nextRow, to: nextRow + events - 1 };
  nextRow += events;
  // The relay may begin as soon as it can see a row.
  const before = await fillBacklog(owners, range, () => relayCpu(shop));
  await eventually('the last event', { withinMs: LIMIT_MS }, () => isDrained(shop));
  const cpuMs = cpuBetween(before, await relayCpu(shop));
  const marks = await marksOf(shop);
  await removeBacklog(owners);
  await purge(shop);
  return { ...drainShot(marks, IN_FLIGHT), cpuMs };
}

async function relayCpu(shop: Shop) {
  const { orders = 0, postgres = 0, rabbitmq = 0, supervisor = 0 } = await shop.readCpu();
  return { orders, postgres, rabbitmq, supervisor };
}

/** Asked many times while the relay works, on the same two cores: it must be cheap. */
async function isDrained({ platform }: Shop): Promise<boolean> {
  const [row] = await platform.query<{ waits: boolean }>(
    'orders',
    'SELECT EXISTS (SELECT FROM outbox WHERE published_at IS NULL) AS waits',
  );
  return row?.waits === false;
}

/** When each event was marked as published, ms by the database's own clock, in order: how often one looks does not matter. */
async function marksOf({ platform }: Shop): Promise<readonly number[]> {
  const rows = await platform.query<{ at: number }>(
    'orders',
    `SELECT 1000 * extract(epoch FROM published_at)::float8 AS at
     FROM outbox WHERE NOT EXISTS (SELECT FROM orders WHERE orders.id = outbox.order_id) ORDER BY published_at`,
  );
  return rows.map(({ at }) => at);
}

async function publish(publisher: Worker, shop: Shop, events: number): Promise<Shot> {
  const broker = await shop.platform.instance('rabbitmq');
  const cpu = () => readCpu({ node: publisher.pid, ...(broker.process && { rabbitmq: broker.process.pid }) });
  const url = shop.platform.brokerUrl;
  const routingKey = 'order.confirmed';
  const before = await cpu();
  const publishing: Publishing = { url, routingKey, bytes: EVENT_BYTES, count: events, inFlight: IN_FLIGHT };
  const confirms = await publisher.call<readonly number[]>('run', publishing);
  const cpuMs = cpuBetween(before, await cpu());
  await purge(shop);
  return { ...drainShot(confirms, IN_FLIGHT), cpuMs };
}

async function purge({ platform }: Shop): Promise<void> {
  const connection = await amqp.connect(platform.brokerUrl);
  try {
    await (await connection.createChannel()).purgeQueue(ORDER_CONFIRMED_QUEUE);
  } finally {
    await connection.close();
  }
}
