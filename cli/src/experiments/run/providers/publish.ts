import type { ConfirmChannel, Message } from 'amqplib';
import { messageOf } from '../../../errors.ts';
import type { PublishProvider, Step } from '../../format/schema.ts';
import { type OutboxEvent, presetsOfOrders, type RawMessage, rawMessages } from '../raw-messages.ts';
import type { RunContext } from '../run-context.ts';
import { type StepResult, unknown } from '../step-result.ts';

export type PublishStep = Extract<Step, { readonly provider: { readonly type: 'publish' } }>;

type Batch = PublishProvider['messages'][number];

const CONNECT_LIMIT_MS = 5_000;
const CONFIRM_LIMIT_MS = 10_000;

const OUTBOX = `
  SELECT id::text, type, order_id::text AS "orderId", payload, "TraceParent" AS "traceParent"
  FROM outbox WHERE order_id = ANY ($1::uuid[]) ORDER BY seq`;

/**
 * Publishes messages as no service would, as the operator at the broker itself. Held when the broker has confirmed all of
 * them; a message that no queue wanted is counted and said.
 */
export async function publishMessages({ provider }: PublishStep, context: RunContext): Promise<StepResult> {
  const { messages, of } = provider;
  const expected = `${messages.reduce((sum, { times }) => sum + times, 0)} times published and confirmed`;
  const ofOrders = messages.filter(({ preset }) => presetsOfOrders.includes(preset));
  if (ofOrders.length > 0 && of === undefined) {
    return unknown(`${ofOrders[0]?.preset} is made from orders: say of which step (of: NAME)`, { expected });
  }
  try {
    const events = of === undefined ? [] : await eventsOf(of, context);
    if (ofOrders.length > 0 && events.length === 0) return unknown(`${of} has no confirmed order`, { expected });
    const counts = await publishBatches(provider, events, context);
    const evidence = messages.map(describeBatch).join('\n');
    const returned = counts.returned > 0 ? `, ${counts.returned} of them reached no queue (NO_ROUTE)` : '';
    return { verdict: 'pass', expected, observed: `${counts.confirmed} messages confirmed${returned}`, evidence };
  } catch (error) {
    context.signal.throwIfAborted();
    return unknown(`not published: ${messageOf(error)}`, { expected });
  }
}

function describeBatch({ preset, times, parallel }: Batch): string {
  return `${preset}, ${times} times${parallel > 1 ? ` over ${parallel} concurrent channels` : ''}`;
}

/** What the confirmed orders of a step have in the outbox, in the order in which they were confirmed. */
async function eventsOf(step: string, { orders, platform }: RunContext): Promise<readonly OutboxEvent[]> {
  const ids = orders
    .ofStep(step)
    .flatMap(({ response }) => (response?.status === 'Confirmed' ? [response.orderId] : []));
  return platform.databases.query<OutboxEvent>('orders', OUTBOX, [ids]);
}

interface Counts {
  readonly confirmed: number;
  readonly returned: number;
}

async function publishBatches(
  { messages, exchange, 'routing-key': routingKey }: PublishProvider,
  events: readonly OutboxEvent[],
  { platform, clock }: RunContext,
): Promise<Counts> {
  const { default: amqp } = await import('amqplib');
  const connection = await amqp.connect(platform.connection.brokerUrl, {
    timeout: CONNECT_LIMIT_MS,
    clientProperties: { connection_name: 'shopctl-chaos-publish' },
  });
  // Its loss also rejects what waits for a confirm; without a listener it would end this process.
  connection.on('error', () => undefined);
  let confirmed = 0;
  let returned = 0;
  try {
    for (const { preset, times, parallel } of messages) {
      const all = Array.from({ length: times }, () => rawMessages(preset, events, clock.date())).flat();
      const channels = await Promise.all(Array.from({ length: parallel }, () => connection.createConfirmChannel()));
      for (const channel of channels) {
        channel.on('error', () => undefined);
        channel.on('return', (_: Message) => {
          returned += 1;
        });
      }
      const send = (message: RawMessage, index: number) =>
        publish(channels[index % parallel] as ConfirmChannel, message, { exchange, routingKey });
      await Promise.all(all.map(send));
      confirmed += all.length;
      await Promise.all(channels.map((channel) => channel.close()));
    }
    return { confirmed, returned };
  } finally {
    // One that the broker has closed or blocked cannot say goodbye.
    await connection.close().catch(() => undefined);
  }
}

/** Resolves when the broker has confirmed. */
function publish(
  channel: ConfirmChannel,
  { content, messageId, type, traceParent }: RawMessage,
  { exchange, routingKey }: { readonly exchange: string; readonly routingKey: string },
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const late = setTimeout(() => reject(new Error(`no confirm in ${CONFIRM_LIMIT_MS} ms`)), CONFIRM_LIMIT_MS);
  const properties = {
    mandatory: true,
    persistent: true,
    type,
    contentType: 'application/cloudevents+json',
    ...(messageId !== undefined && { messageId }),
    ...(traceParent !== undefined && { headers: { traceparent: traceParent } }),
  };
  channel.publish(exchange, routingKey, content, properties, (error: unknown) => {
    if (error) reject(error);
    else resolve();
  });
  return promise.finally(() => clearTimeout(late));
}
