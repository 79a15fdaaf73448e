import { openBroker } from '@shop/kit/broker.ts';
import { type Database, sql } from '@shop/kit/database.ts';
import { messageOf } from '@shop/kit/failures.ts';
import type { EdgeUpstreams } from '@shop/kit/live-upstreams.ts';
import type { Logger } from '@shop/kit/logger.ts';
import { pause } from '@shop/kit/pause.ts';
import type { ShadowOutcome, ShippedRows } from '@shop/kit/shadow.ts';
import { declareShadow, declareTopology, SHADOW_QUEUE } from '@shop/kit/topology.ts';
import { untraced } from '@shop/kit/tracing.ts';
import type { Channel, ConsumeMessage } from 'amqplib';
import { backoffs, settle } from '../delivery.ts';
import type { Shipments } from '../repository.ts';
import { rolledBack } from './rolled-back.ts';

/** How long a message may take to be in the inbox: the instances that serve may be behind. In ms. */
const RECEIVED_LIMIT_MS = 20_000;
const RECEIVED_EVERY_MS = 50;

/** Outcomes that are kept for a reader who comes late. */
const KEPT = 10_000;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const selectOrder = sql('SELECT inbox: order', 'SELECT order_id FROM inbox WHERE message_id = $1');

export interface Shadow extends AsyncDisposable {
  /** True while copies are being delivered. */
  readonly ready: boolean;
  /** The outcomes after this number. */
  outcomesAfter(number: number): readonly ShadowOutcome[];
  /** Takes no more copies and resolves when those in flight have ended. */
  drain(): Promise<void>;
}

export interface ShadowOptions {
  readonly url: string;
  readonly upstreams?: EdgeUpstreams;
  readonly instance: string;
  readonly prefetch: number;
  readonly logger: Logger;
  readonly database: Database;
  readonly receivedLimitMs?: number;
  /** The work of this release, on a database in which nothing stays. */
  shipmentsOn(database: Database): Shipments;
}

/**
 * Handles copies of the events as an instance that serves would, and rolls all of it back. A copy waits until the message is in
 * the inbox, so that an instance that serves never waits for this one. Nothing is traced or counted: the trace of an order has
 * only what was done for it.
 */
export async function openShadow(options: ShadowOptions): Promise<Shadow> {
  const { instance, prefetch, database, shipmentsOn, receivedLimitMs = RECEIVED_LIMIT_MS } = options;
  // What the instances that serve report is not reported a second time.
  const logger = options.logger.child({ shadow: true }, { level: 'error' });
  const stop = new AbortController();
  const inFlight = new Set<Promise<void>>();
  let outcomes: readonly ShadowOutcome[] = [];
  let ended = 0;
  let channel: Channel | undefined;

  async function orderOf(messageId: string): Promise<string | undefined> {
    const endsAt = performance.now() + receivedLimitMs;
    while (!stop.signal.aborted) {
      const { rows } = await database.query<{ order_id: string }>(selectOrder, [messageId]);
      if (rows[0] !== undefined || performance.now() >= endsAt) return rows[0]?.order_id;
      await pause(RECEIVED_EVERY_MS, stop.signal);
    }
    return undefined;
  }

  async function outcomeOf({ content, properties }: ConsumeMessage): Promise<Omit<ShadowOutcome, 'number'>> {
    const messageId = messageIdOf(content, properties.messageId);
    const orderId = messageId === null ? undefined : await orderOf(messageId);
    if (messageId === null || orderId === undefined) return { messageId, settlement: 'unreceived' };
    let written: ShippedRows | undefined;
    const own = rolledBack(database, { messageId, orderId }, (rows) => {
      written = rows;
    });
    const { kind } = await settle({ content, earlierDeliveries: 0 }, dependencies(shipmentsOn(own)), stop.signal);
    return { messageId, settlement: kind, ...(written && { written }) };
  }

  const dependencies = (shipments: Shipments) => ({
    shipments,
    count: () => undefined,
    countEvent: () => undefined,
    recordDelay: () => undefined,
    logger,
    failpoint: async () => undefined,
    backoffs,
  });

  function receive(from: Channel, message: ConsumeMessage | null): void {
    if (message === null) {
      channel = undefined;
      return;
    }
    const work = untraced(() => outcomeOf(message))
      .then((outcome) => {
        ended += 1;
        outcomes = [...outcomes, { number: ended, ...outcome }].slice(-KEPT);
        if (channel === from) from.ack(message);
      })
      // It has no outcome, which its reader takes for missing evidence.
      .catch((error: unknown) => logger.error({ reason: messageOf(error) }, 'a copy could not be handled'))
      .finally(() => inFlight.delete(work));
    inFlight.add(work);
  }

  const broker = await openBroker({
    ...options,
    connectionName: `${instance} shadow`,
    async setUp(model) {
      const own = await model.createChannel();
      own.on('error', (error) => logger.error({ reason: messageOf(error) }, 'the channel of copies failed'));
      own.on('close', () => {
        if (channel === own) channel = undefined;
      });
      await declareTopology(own);
      await declareShadow(own);
      await own.prefetch(prefetch);
      await own.consume(SHADOW_QUEUE, (message) => receive(own, message));
      channel = own;
    },
    onLost() {
      channel = undefined;
    },
  });

  async function drain(): Promise<void> {
    stop.abort();
    await Promise.all(inFlight);
  }

  return {
    get ready() {
      return broker.connected && channel !== undefined && !stop.signal.aborted;
    },
    outcomesAfter: (number) => outcomes.filter((one) => one.number > number),
    drain,
    async [Symbol.asyncDispose]() {
      await drain();
      await broker[Symbol.asyncDispose]();
    },
  };
}

/** Of its properties, or of what it says itself: a release that cannot read the rest must not hide which message it was. */
function messageIdOf(content: Uint8Array, property: unknown): string | null {
  if (typeof property === 'string' && UUID.test(property)) return property.toLowerCase();
  try {
    const { id } = JSON.parse(Buffer.from(content).toString()) as { id?: unknown };
    return typeof id === 'string' && UUID.test(id) ? id.toLowerCase() : null;
  } catch {
    return null; // Not JSON: it names no message.
  }
}
