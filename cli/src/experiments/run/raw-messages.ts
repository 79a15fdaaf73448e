import { randomUUID } from 'node:crypto';
import type { PublishProvider } from '../format/schema.ts';

/** An event as it stands in the outbox. */
export interface OutboxEvent {
  readonly id: string;
  readonly type: string;
  readonly orderId: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly traceParent: string | null;
}

/** One AMQP message. */
export interface RawMessage {
  readonly content: Buffer;
  readonly messageId?: string;
  readonly type: string;
  readonly traceParent?: string | undefined;
}

export type Preset = PublishProvider['messages'][number]['preset'];

/** Presets that are made from orders' events. */
export const presetsOfOrders: readonly Preset[] = ['duplicate', 'swap', 'old', 'v2'];

const YEAR_MS = 365 * 24 * 3_600_000;
const V2 = 'order.confirmed.v2';
const LARGE_BYTES = 1024 * 1024;

/** The messages of a preset, in the order in which they are published. */
export function rawMessages(preset: Preset, events: readonly OutboxEvent[], now: Date): readonly RawMessage[] {
  switch (preset) {
    case 'duplicate':
      return events.map((event) => messageOf(event));
    case 'swap':
      // The later order's event first, under the ids that the relay uses.
      return events.toReversed().map((event) => messageOf(event));
    case 'old':
      return events.map((event) => messageOf(event, lastYears(event, now)));
    case 'v2':
      return events.map((event) => ({ ...messageOf(event, nextVersion(event)), type: V2 }));
    default:
      return [poison[preset]()];
  }
}

function messageOf({ id, type, payload, traceParent }: OutboxEvent, content: object = payload): RawMessage {
  return { content: json(content), messageId: id, type, traceParent: traceParent ?? undefined };
}

/** As a version of a year ago might have written it: what readers fill in is missing, and fields are there that none knows. */
function lastYears({ id, payload }: OutboxEvent, now: Date): object {
  const { orderId, lines } = (payload.data ?? {}) as { orderId?: unknown; lines?: unknown };
  return {
    id,
    time: new Date(now.getTime() - YEAR_MS).toISOString(),
    schemaUrl: '/schemas/order/0',
    data: { orderId, lines, warehouse: 'west', priority: { level: 3 } },
  };
}

/** What no consumer can use: each goes to the dead letters. */
const poison: Readonly<Record<Exclude<Preset, 'duplicate' | 'swap' | 'old' | 'v2'>, () => RawMessage>> = {
  'not-json': () => ({ content: Buffer.from('{"id": not JSON'), messageId: randomUUID(), type: 'order.confirmed' }),
  'wrong-type': () => poisonOf({ data: { orderId: 4711, lines: 'two of the first' } }),
  'no-id': () => {
    const { content, type } = poisonOf({ id: undefined });
    return { content, type };
  },
  large: () => poisonOf({ data: { padding: 'x'.repeat(LARGE_BYTES) } }),
  'unknown-event': () => poisonOf({ type: 'order.teleported' }),
};

/** The event as its next version may be: the same id, another type, one field more. */
function nextVersion({ payload }: OutboxEvent): object {
  return { ...payload, type: V2, data: { ...(payload.data as object), giftWrap: false } };
}

/** A valid event of no existing order, but for these fields. */
function poisonOf(changes: Readonly<Record<string, unknown>>): RawMessage {
  const id = randomUUID();
  const orderId = randomUUID();
  const good = { specversion: '1.0', id, type: 'order.confirmed', source: '/shop/orders', subject: orderId };
  const event = { ...good, data: { orderId, lines: [{ productId: 1, quantity: 1 }] }, ...changes };
  return { content: json(event), messageId: id, type: String(event.type) };
}

function json(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}
