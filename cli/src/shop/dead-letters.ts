import {
  DEAD_LETTERS_QUEUE,
  DELIVERIES_HEADER,
  DELIVERY_LIMIT,
  ORDER_CONFIRMED_QUEUE,
  RETRIES_QUEUE,
} from '@shop/kit/topology.ts';
import type { ChannelModel, ConfirmChannel, GetMessage } from 'amqplib';
import { CliError, messageOf } from '../errors.ts';

/** Limits of one exchange with the broker, in ms. */
const CONNECT_TIMEOUT_MS = 3_000;
const ANSWER_TIMEOUT_MS = 5_000;

/** One dead letter that was moved. */
export interface MovedLetter {
  readonly messageId: string | null;
  readonly type: string | null;
  readonly queue: string;
  /** Why it was dead-lettered: `rejected`, `delivery_limit`. */
  readonly reason: string | null;
}

/** The dead letters of the shop, as the operator's account sees them. */
export interface DeadLetters extends AsyncDisposable {
  /** Messages waiting in the dead-letter queue. Changes nothing: a look at a message would count as a delivery. */
  count(): Promise<number>;
  /**
   * Moves at most `limit` messages back to the queue that refused them, one by one: published, confirmed, then acknowledged.
   * A crash between the two leaves a duplicate, which the inbox absorbs, never a gap. `onMoved` is called for each one.
   * Throws CliError (1) when the broker did not take one; that one stays a dead letter.
   */
  moveBack(limit: number, onMoved: (letter: MovedLetter) => void): Promise<number>;
}

/**
 * Connects to the broker. Throws CliError (4) when it does not respond. The URL holds a password and is never shown.
 */
export async function openDeadLetters(brokerUrl: string): Promise<DeadLetters> {
  const connection = await connect(brokerUrl);
  const channel = await withinLimit(connection.createConfirmChannel(), 'open a channel');
  // The failure of a call rejects that call; without listeners it would end this process as well.
  channel.on('error', () => undefined);
  return {
    async count() {
      return (await withinLimit(channel.checkQueue(DEAD_LETTERS_QUEUE), `look at ${DEAD_LETTERS_QUEUE}`)).messageCount;
    },
    async moveBack(limit, onMoved) {
      let moved = 0;
      while (moved < limit) {
        const message = await withinLimit(channel.get(DEAD_LETTERS_QUEUE), 'hand out a dead letter');
        if (message === false) break;
        onMoved(await moveOne(channel, message));
        moved += 1;
      }
      // A channel responds in order, so the acknowledgements have arrived when this has.
      await withinLimit(channel.checkQueue(DEAD_LETTERS_QUEUE), 'take the last acknowledgement');
      return moved;
    },
    async [Symbol.asyncDispose]() {
      // What is not acknowledged goes back to the dead letters when the connection ends.
      await withinLimit(connection.close(), 'close').catch(() => undefined);
    },
  };
}

async function connect(brokerUrl: string): Promise<ChannelModel> {
  const { default: amqp } = await import('amqplib');
  try {
    const connection = await amqp.connect(brokerUrl, {
      timeout: CONNECT_TIMEOUT_MS,
      clientProperties: { connection_name: 'shopctl' },
    });
    connection.on('error', () => undefined);
    return connection;
  } catch (cause) {
    throw new CliError({
      code: 'broker_unreachable',
      what: 'the broker does not respond',
      why: messageOf(cause),
      next: 'see whether RabbitMQ runs with "shopctl status", and what it logged with "shopctl logs rabbitmq"',
      cause,
    });
  }
}

async function moveOne(channel: ConfirmChannel, message: GetMessage): Promise<MovedLetter> {
  const { headers = {}, messageId, type } = message.properties;
  const { queue, reason } = deathOf(headers);
  const published = publish(channel, queue, message);
  await withinLimit(published, `take message ${messageId ?? '(no id)'} for ${queue}`);
  channel.ack(message);
  return { messageId: messageId ?? null, type: type ?? null, queue, reason };
}

/**
 * Where a message was dead-lettered, and why; the shop's queue for one whose history the broker did not write. A wait among the
 * retries does not count, and one that the consumer rejected after its last delivery met the limit.
 */
function deathOf(headers: Readonly<Record<string, unknown>>): { queue: string; reason: string | null } {
  const history = Array.isArray(headers['x-death']) ? (headers['x-death'] as Record<string, unknown>[]) : [];
  const { queue, reason } = history.find((death) => death.queue !== RETRIES_QUEUE) ?? {};
  const deliveries = headers[DELIVERIES_HEADER];
  const isLimit = reason === 'rejected' && typeof deliveries === 'number' && deliveries >= DELIVERY_LIMIT;
  return {
    queue: typeof queue === 'string' && queue !== '' ? queue : ORDER_CONFIRMED_QUEUE,
    reason: isLimit ? 'delivery_limit' : typeof reason === 'string' ? reason : null,
  };
}

/** Resolves when the broker has confirmed; rejects when it refused, or had no such queue. */
function publish(channel: ConfirmChannel, queue: string, { content, properties }: GetMessage): Promise<void> {
  return new Promise((resolve, reject) => {
    const returned = () => reject(new Error(`there is no queue ${queue}`));
    channel.once('return', returned);
    const options = { ...properties, headers: withoutDeath(properties.headers ?? {}), mandatory: true };
    // `mandatory` here: a letter whose queue is gone must stay a dead letter. The default exchange routes by queue name.
    channel.publish('', queue, content, options, (error) => {
      channel.off('return', returned);
      if (error) reject(error);
      else resolve();
    });
  });
}

/** Without what broker and consumer wrote about its death and deliveries: its new life starts from zero. */
function withoutDeath(headers: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isHistory = (name: string) =>
    /^x-(death|first-death-.*|last-death-.*|delivery-count|acquired-count|shop-.*)$/.test(name);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isHistory(name)));
}

/** The response of a broker that may be frozen. Throws CliError after the limit, or with the broker's reason. */
async function withinLimit<T>(response: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no response within ${ANSWER_TIMEOUT_MS / 1000} s`)), ANSWER_TIMEOUT_MS);
  });
  try {
    return await Promise.race([response, limit]);
  } catch (cause) {
    throw new CliError({
      code: 'broker_refused',
      what: `the broker did not ${what}`,
      why: messageOf(cause),
      next: 'see "shopctl status" and "shopctl logs rabbitmq"; what was not moved is still a dead letter',
      cause,
    });
  } finally {
    clearTimeout(timer);
  }
}
