import { setTimeout as delay } from 'node:timers/promises';
import { context } from '@opentelemetry/api';
import { type Broker, openBroker } from '@shop/kit/broker.ts';
import { messageOf } from '@shop/kit/failures.ts';
import { type EdgeUpstreams, fixedUpstreams } from '@shop/kit/live-upstreams.ts';
import type { Logger } from '@shop/kit/logger.ts';
import { pause } from '@shop/kit/pause.ts';
import { createDeliverySpans, type DeliverySpan, type DeliverySpans } from '@shop/kit/spans/messages.ts';
import { declareRetries, declareTopology, ORDER_CONFIRMED_QUEUE } from '@shop/kit/topology.ts';
import type { ChannelModel, ConfirmChannel, ConsumeMessage } from 'amqplib';
import { type DeliveryDependencies, type Settlement, settle } from './delivery.ts';
import { createRetries, earlierDeliveriesOf } from './retries.ts';

/** How a message is settled; `requeue` where the broker did not accept a retry. */
type Verdict = Settlement['kind'] | 'requeue';

/** Pause before a channel that the broker closed is opened again, in ms. */
const REOPEN_MS = 1_000;

/** How long the broker may take to end the consumer, and then its channel, in ms. */
const DRAIN_STEP_MS = 2_000;

export interface Consumer extends AsyncDisposable {
  /** True while messages are being delivered. */
  readonly consuming: boolean;
  /** True while messages are being delivered as wanted: also none, where this instance is to take none. */
  readonly ready: boolean;
  /** Takes no more messages and resolves when those in flight are settled. Held messages return to the queue. */
  drain(): Promise<void>;
}

export interface ConsumerOptions {
  readonly url: string;
  readonly upstreams?: EdgeUpstreams;
  /** The instances to which the queue delivers: one that is draining there takes no messages, until it is active again. */
  readonly deliveries?: EdgeUpstreams;
  readonly instance: string;
  /** Maximum unsettled messages. A message that waits in the retry queue does not count. */
  readonly prefetch: number;
  readonly logger: Logger;
  readonly delivery: DeliveryDependencies;
}

/** Starts consuming order events and returns immediately; follows the broker through any loss of channel or connection. */
export async function openConsumer(options: ConsumerOptions): Promise<Consumer> {
  const { instance, prefetch, logger, delivery, deliveries = fixedUpstreams } = options;
  const draining = new AbortController();
  let connection: ChannelModel | undefined;
  let connectedTo = options.url;
  let current: Subscription | undefined;
  let changing: Promise<unknown> = Promise.resolve();
  let left: Promise<void> = Promise.resolve();

  const isWanted = () =>
    !draining.signal.aborted &&
    !deliveries.current?.some((one) => one.instance === instance && one.state === 'draining');

  async function subscribe(model: ChannelModel, url: string): Promise<void> {
    const channel = await model.createConfirmChannel();
    // The address has changed meanwhile.
    if (connection !== model) throw new Error('the connection was left');
    if (!isWanted()) return channel.close();
    const subscription = createSubscription({
      channel,
      prefetch,
      draining: draining.signal,
      logger,
      delivery,
      spans: createDeliverySpans(url, ORDER_CONFIRMED_QUEUE),
    });
    subscription.lost.addEventListener('abort', () => {
      if (current === subscription) current = undefined;
      // The broker closes a channel that broke a rule, or whose message it waited for too long; the connection goes on.
      setTimeout(changeInBackground, REOPEN_MS).unref();
    });
    current = subscription;
    await subscription.start();
  }

  /** Subscribes where messages are wanted and none are delivered, and the reverse. One change after the other. */
  function change(): Promise<void> {
    const changed = changing.then(async () => {
      if (!isWanted()) void leave();
      // A lost connection is replaced by a new one with its own set-up.
      else if (connection !== undefined && current === undefined) await subscribe(connection, connectedTo);
    });
    changing = changed.catch(() => undefined);
    return changed;
  }

  function changeInBackground(): void {
    change().catch((error: unknown) => logger.warn({ reason: messageOf(error) }, 'the channel could not be opened'));
  }

  /** Resolves when all that was received has been settled. */
  function leave(): Promise<void> {
    const end = current?.drain();
    current = undefined;
    left = Promise.all([left, end]).then(() => undefined);
    return left;
  }

  const followed = deliveries.follow(changeInBackground);
  const broker: Broker = await openBroker({
    ...options,
    connectionName: instance,
    async setUp(model, url) {
      connection = model;
      connectedTo = url;
      await change();
    },
    onLost() {
      connection = undefined;
      current = undefined;
    },
    onLeave: leave,
  });

  return {
    get consuming() {
      return broker.connected && current?.consuming === true;
    },
    get ready() {
      return broker.connected && (current?.consuming === true || !isWanted());
    },
    async drain() {
      draining.abort();
      await leave();
    },
    async [Symbol.asyncDispose]() {
      draining.abort();
      followed[Symbol.dispose]();
      await broker[Symbol.asyncDispose]();
    },
  };
}

/** One channel's consumer. Ends with its channel, whose messages the broker then delivers to another. */
interface Subscription {
  readonly consuming: boolean;
  /** Fires when the channel is closed or the broker has cancelled the consumer. */
  readonly lost: AbortSignal;
  start(): Promise<void>;
  drain(): Promise<void>;
}

function createSubscription(options: {
  channel: ConfirmChannel;
  prefetch: number;
  draining: AbortSignal;
  logger: Logger;
  delivery: DeliveryDependencies;
  spans: DeliverySpans;
}): Subscription {
  const { channel, prefetch, draining, logger, delivery, spans } = options;
  const lost = new AbortController();
  const leaving = new AbortController();
  const stop = AbortSignal.any([draining, lost.signal, leaving.signal]);
  const retries = createRetries(channel, lost.signal);
  const inFlight = new Set<Promise<void>>();
  let consumerTag: string | undefined;

  channel.on('error', (error) => logger.warn({ reason: messageOf(error) }, 'the consuming channel failed'));
  channel.on('close', () => lost.abort());

  function receive(message: ConsumeMessage | null): void {
    if (message === null) {
      logger.warn('the broker cancelled the consumer: its queue was deleted');
      channel.close().catch((error: unknown) => logger.debug({ reason: messageOf(error) }, 'closing a channel'));
      return;
    }
    const traced = spans.start(message);
    const work = context
      .with(traced.context, handle, undefined, message, traced)
      // Only a failpoint can fail here: the message is settled.
      .catch((error: unknown) => logger.warn({ reason: messageOf(error) }, 'a failure after a message was settled'))
      .finally(() => inFlight.delete(work));
    inFlight.add(work);
  }

  async function handle(message: ConsumeMessage, traced: DeliverySpan): Promise<void> {
    const given = { content: message.content, earlierDeliveries: earlierDeliveriesOf(message) };
    const settlement = await settle(given, delivery, stop);
    const verdict = settlement.kind === 'retry' ? await putAside(message, settlement) : settlement.kind;
    // On a closed channel nothing can be settled, and need not be: the broker delivers the message again.
    if (lost.signal.aborted) traced.fail('channel closed');
    else settleAtBroker(message, verdict, traced);
    HARNESS: await delivery.failpoint('shipment-committed:message-acknowledged');
  }

  /** Where the broker does not accept the copy, the message waits here and is requeued: slower, but not lost. */
  async function putAside(message: ConsumeMessage, retry: Parameters<typeof retries.putAside>[1]): Promise<Verdict> {
    try {
      await retries.putAside(message, retry);
      return 'retry';
    } catch (error) {
      logger.warn({ reason: messageOf(error) }, 'a failed message could not be put aside, and is held');
      await pause(retry.afterMs, stop);
      return 'requeue';
    }
  }

  function settleAtBroker(message: ConsumeMessage, verdict: Verdict, traced: DeliverySpan): void {
    try {
      if (verdict === 'ack' || verdict === 'retry') channel.ack(message);
      else if (verdict === 'dead-letter') channel.reject(message, false);
      else if (verdict === 'requeue') channel.nack(message, false, true);
      if (verdict === 'ack') traced.end();
      else traced.fail(verdict);
    } catch (error) {
      traced.fail('channel closed');
      logger.info({ reason: messageOf(error) }, 'the channel was lost before a message was settled');
    }
  }

  return {
    get consuming() {
      return consumerTag !== undefined && !stop.aborted;
    },
    lost: lost.signal,
    async start() {
      await declareTopology(channel);
      await declareRetries(channel);
      await channel.prefetch(prefetch);
      ({ consumerTag } = await channel.consume(ORDER_CONFIRMED_QUEUE, receive));
    },
    async drain() {
      leaving.abort();
      if (!lost.signal.aborted && consumerTag !== undefined) {
        await inTime(channel.cancel(consumerTag)).catch((error: unknown) =>
          logger.info({ reason: messageOf(error) }, 'the channel was lost while draining'),
        );
      }
      await Promise.all(inFlight);
      // Closing waits until the broker has processed all that was sent on the channel.
      await inTime(channel.close()).catch((error: unknown) =>
        logger.debug({ reason: messageOf(error) }, 'the channel was closed already'),
      );
    },
  };
}

/** A frozen broker must not delay the end of this process. */
function inTime(request: Promise<unknown>): Promise<unknown> {
  const late = delay(DRAIN_STEP_MS, undefined, { ref: false }).then(() => {
    throw new Error(`no response from the broker within ${DRAIN_STEP_MS} ms`);
  });
  return Promise.race([request, late]);
}
