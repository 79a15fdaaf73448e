import { type Broker, openBroker } from '@shop/kit/broker.ts';
import { messageOf, TransientError } from '@shop/kit/failures.ts';
import type { EdgeUpstreams } from '@shop/kit/live-upstreams.ts';
import type { Logger } from '@shop/kit/logger.ts';
import { backoffMs } from '@shop/kit/resilience.ts';
import { createPublishSpans, type PublishSpans } from '@shop/kit/spans/messages.ts';
import { declareTopology, EVENTS_EXCHANGE } from '@shop/kit/topology.ts';
import type { ChannelModel, ConfirmChannel, Message, Options } from 'amqplib';
import type { OutboxRow } from './outbox.ts';

/** How long the broker may take to confirm, in ms. */
const CONFIRM_TIMEOUT_MS = 5_000;

/** Pauses before a channel that the broker closed is opened again, in ms: doubled until a message was confirmed. */
const REOPEN = { baseMs: 1_000, maxMs: 10_000 } as const;

/** `basic.return` says more than the library's types (AMQP 0-9-1, class basic). */
interface Return {
  readonly replyCode: number;
  readonly replyText: string;
}

/** Publishes with confirms. */
export interface Publisher extends AsyncDisposable {
  /** False while a publish could not be confirmed; ask before any work is traced. */
  readonly ready: boolean;
  /** Resolves when the broker has confirmed. Rejects with TransientError when it did not, or returned the message. */
  publish(row: OutboxRow): Promise<void>;
}

/**
 * A channel that owes a confirm is not used again. What it still holds may be confirmed late, which the inbox absorbs,
 * and a silent broker would only be sent every row again and again. The broker closes a channel that published to a
 * missing exchange (404) or not ours to write to (403), and the connection goes on: another is opened.
 */
export async function openPublisher(options: {
  url: string;
  upstreams?: EdgeUpstreams;
  logger: Logger;
  instance: string;
  /** Seeded bug `mandatory-unbound`: a message without a queue comes back. */
  isMandatory?: boolean;
}): Promise<Publisher> {
  const { logger, isMandatory = false } = options;
  let spans = createPublishSpans(options.url);
  let connection: ChannelModel | undefined;
  let channel: ConfirmChannel | undefined;
  /** Channels that were opened again since a message was last confirmed. */
  let reopened = 0;
  /** Why, by message id. Set by `basic.return` before the confirm arrives; such a message had no queue to go to. */
  const returned = new Map<string, Return>();

  async function openChannel(model: ChannelModel): Promise<void> {
    const opened = await model.createConfirmChannel();
    opened.on('error', (error) => logger.warn({ reason: messageOf(error) }, 'the publishing channel failed'));
    opened.on('close', () => {
      if (channel !== opened) return;
      channel = undefined;
      openAgain(model);
    });
    opened.on('return', (message: Message) => {
      const { messageId } = message.properties;
      if (typeof messageId === 'string') returned.set(messageId, message.fields as Message['fields'] & Return);
    });
    await declareTopology(opened);
    if (connection === model) channel = opened;
  }

  /** Tries until there is a channel; another connection brings its own. */
  function openAgain(model: ChannelModel): void {
    reopened += 1;
    setTimeout(
      () => {
        if (connection === model && channel === undefined) openOrTryAgain(model);
      },
      backoffMs(reopened, REOPEN.baseMs, REOPEN.maxMs, () => 1),
    ).unref();
  }

  function openOrTryAgain(model: ChannelModel): void {
    openChannel(model).catch((error: unknown) => {
      logger.warn({ reason: messageOf(error) }, 'no new channel');
      openAgain(model);
    });
  }

  /** Leaves a silent channel and requests another; until the broker opens it, nothing is published. */
  function replaceChannel(): void {
    const model = connection;
    const silent = channel;
    channel = undefined;
    if (model === undefined || silent === undefined) return;
    silent.close().catch(() => logger.debug('the silent channel was closed already'));
    openOrTryAgain(model);
  }

  const broker: Broker = await openBroker({
    ...options,
    connectionName: options.instance,
    async setUp(model, url) {
      connection = model;
      spans = createPublishSpans(url);
      await openChannel(model);
    },
    onLost() {
      connection = undefined;
      channel = undefined;
      returned.clear();
    },
  });

  return {
    get ready() {
      return channel !== undefined && broker.connected && broker.blocked === undefined;
    },
    async publish(row) {
      const current = channel;
      if (current === undefined) throw new TransientError('the broker is not connected');
      try {
        await confirmed(current, row, { mandatory: isMandatory, spans });
      } catch (error) {
        if (error instanceof ConfirmTimeoutError && channel === current) replaceChannel();
        throw error;
      }
      reopened = 0;
      const reason = returned.get(row.id);
      if (reason === undefined) return;
      returned.delete(row.id);
      const { replyCode, replyText } = reason;
      // Here and not where it was heard, so that the line belongs to the order's trace.
      logger.error(
        { messageId: row.id, replyCode, replyText },
        `the broker returned a message (${replyCode} ${replyText}): no queue is bound to its type`,
      );
      throw new TransientError('the broker returned the message');
    },
    async [Symbol.asyncDispose]() {
      // Its channel closes with it, and is not to be opened again.
      connection = undefined;
      await broker[Symbol.asyncDispose]();
    },
  };
}

class ConfirmTimeoutError extends TransientError {
  override readonly name = 'ConfirmTimeoutError';
}

function confirmed(
  channel: ConfirmChannel,
  row: OutboxRow,
  { mandatory, spans }: { readonly mandatory: boolean; readonly spans: PublishSpans },
): Promise<void> {
  const headers: Record<string, string> = {};
  const traced = spans.start({ exchange: EVENTS_EXCHANGE, routingKey: row.type, messageId: row.id }, headers);
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      const error = new ConfirmTimeoutError(`no confirm within ${CONFIRM_TIMEOUT_MS} ms`);
      traced?.fail(error);
      reject(error);
    };
    const timer = setTimeout(giveUp, CONFIRM_TIMEOUT_MS);
    const settle = (error: unknown) => {
      clearTimeout(timer);
      if (error) {
        traced?.fail(error);
        reject(new TransientError('the broker did not take the message', { cause: error }));
      } else {
        traced?.end();
        resolve();
      }
    };
    try {
      channel.publish(
        EVENTS_EXCHANGE,
        row.type,
        Buffer.from(row.payload),
        propertiesOf(row, { headers, mandatory }),
        settle,
      );
    } catch (error) {
      settle(error);
    }
  });
}

/** Properties of an event's message; it keeps all but `mandatory`. */
export function propertiesOf(
  { id, type }: Pick<OutboxRow, 'id' | 'type'>,
  { headers, mandatory }: { readonly headers: Record<string, string>; readonly mandatory: boolean },
): Options.Publish {
  return {
    headers,
    mandatory,
    persistent: true,
    messageId: id,
    type,
    contentType: 'application/cloudevents+json',
    timestamp: Math.floor(Date.now() / 1_000),
  };
}
