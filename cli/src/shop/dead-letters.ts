import { createHash } from 'node:crypto';
import { parseOrderConfirmed } from '@shop/kit/events.ts';
import {
  DEAD_LETTERS_QUEUE,
  DELIVERIES_HEADER,
  DELIVERY_LIMIT,
  ORDER_CONFIRMED_QUEUE,
  RETRIES_QUEUE,
} from '@shop/kit/topology.ts';
import type { ChannelModel, ConfirmChannel, GetMessage } from 'amqplib';
import { CliError, messageOf } from '../errors.ts';
import { type EventPayload, eventPayload } from './event-fields.ts';

/** Limits of one exchange with the broker, in ms. */
const CONNECT_TIMEOUT_MS = 3_000;
const RESPONSE_TIMEOUT_MS = 5_000;

/** One message in the dead-letter queue. */
export interface DeadLetter {
  /** Its message id, which is that of the outbox row; for a message without one, the beginning of its content's SHA-256. */
  readonly id: string;
  readonly messageId: string | null;
  readonly type: string | null;
  readonly orderId: string | null;
  /** The queue that refused it first, where `retry` brings it. */
  readonly queue: string;
  /** `rejected`, `delivery_limit`, `expired`. */
  readonly reason: string | null;
  /** ISO time. */
  readonly deadLetteredAt: string | null;
  /** How often it was refused. */
  readonly times: number;
  /** How often shipping had it before, as far as it was counted. */
  readonly deliveries: number | null;
  readonly traceParent: string | null;
  readonly bytes: number;
  /** Why shipping cannot read it; null where it can. */
  readonly unreadable: string | null;
  readonly payload: EventPayload;
}

/** What to do with a dead letter. */
export type Verdict = 'leave' | 'retry' | 'discard';

/** The dead letters of the shop, as the operator's account sees them. */
export interface DeadLetters extends AsyncDisposable {
  /** Messages waiting in the dead-letter queue. Changes nothing. */
  count(): Promise<number>;
  /**
   * Takes at most `limit` dead letters and does with each what `decide` says, one by one. `retry`: published to the queue that
   * refused it, confirmed, then acknowledged. A crash between the two leaves a duplicate, which the inbox absorbs, never a gap.
   * `discard`: acknowledged. `leave`: it goes back at the end, so that no look brings the same letter twice.
   *
   * A look counts as a delivery (RabbitMQ before 4.3), and a queue may drop what was delivered too often: 20 times without
   * a setting since 4.0. So one that was often looked at goes back as a new message with the same content and history.
   * Throws CliError (1) when the broker did not take one; that one stays a dead letter.
   */
  each(
    limit: number,
    decide: (letter: DeadLetter) => Promise<Verdict>,
    onRetried?: (letter: DeadLetter) => void,
  ): Promise<void>;
}

/**
 * Connects to the broker. Throws CliError (4) when it does not respond. The URL holds a password and is never shown.
 */
export async function openDeadLetters(brokerUrl: string): Promise<DeadLetters> {
  const connection = await connect(brokerUrl);
  const channel = await withinLimit(connection.createConfirmChannel(), 'open a channel');
  // The failure of a call rejects that call; without listeners it would end this process as well.
  channel.on('error', () => undefined);

  async function each(
    limit: number,
    decide: (letter: DeadLetter) => Promise<Verdict>,
    onRetried: (letter: DeadLetter) => void = () => undefined,
  ): Promise<void> {
    const left: GetMessage[] = [];
    for (let taken = 0; taken < limit; taken += 1) {
      const message = await withinLimit(channel.get(DEAD_LETTERS_QUEUE), 'hand out a dead letter');
      if (message === false) break;
      const letter = letterOf(message);
      const verdict = await decide(letter);
      if (verdict === 'leave') left.push(message);
      else {
        if (verdict === 'retry') await retry(channel, message, letter);
        channel.ack(message);
        if (verdict === 'retry') onRetried(letter);
      }
    }
    for (const message of left) await putBack(channel, message);
    // A channel responds in order, so the acknowledgements have arrived when this has.
    await withinLimit(channel.checkQueue(DEAD_LETTERS_QUEUE), 'take the last acknowledgement');
  }

  return {
    async count() {
      return (await withinLimit(channel.checkQueue(DEAD_LETTERS_QUEUE), `look at ${DEAD_LETTERS_QUEUE}`)).messageCount;
    },
    each,
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

async function retry(channel: ConfirmChannel, message: GetMessage, { id, queue }: DeadLetter): Promise<void> {
  const headers = withoutDeath(message.properties.headers ?? {});
  await withinLimit(publish(channel, { queue, message, headers }), `take message ${id} for ${queue}`);
}

/** After so many looks a letter goes back as a new message: half of RabbitMQ's own limit. */
const MAX_LOOKS = 10;

async function putBack(channel: ConfirmChannel, message: GetMessage): Promise<void> {
  const { headers = {} } = message.properties;
  const looks = Math.max(...LOOKS_HEADERS.map((name) => Number(headers[name] ?? 0)));
  // `nack`, because `reject` counts as a failure in every version.
  if (looks < MAX_LOOKS) return void channel.nack(message, false, true);
  const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => !LOOKS_HEADERS.includes(name)));
  const published = publish(channel, { queue: DEAD_LETTERS_QUEUE, message, headers: kept });
  await withinLimit(published, `take message ${message.properties.messageId ?? '(no id)'} back`);
  channel.ack(message);
}

/** Written by a quorum queue: how often it had delivered the message before. */
const LOOKS_HEADERS: readonly string[] = ['x-delivery-count', 'x-acquired-count'];

function letterOf({ content, properties }: GetMessage): DeadLetter {
  const { headers = {}, messageId = null, type = null } = properties;
  const deliveries = headers[DELIVERIES_HEADER];
  const traceParent = headers.traceparent;
  const payload = eventPayload(content);
  return {
    id: messageId ?? createHash('sha256').update(content).digest('hex').slice(0, 32),
    messageId,
    type,
    orderId: payload.orderId,
    ...deathOf(headers),
    deliveries: typeof deliveries === 'number' ? deliveries : null,
    traceParent: typeof traceParent === 'string' ? traceParent : null,
    bytes: content.length,
    unreadable: whyUnreadable(content),
    payload: payload.fields,
  };
}

/** As shipping sees it. */
function whyUnreadable(content: Buffer): string | null {
  try {
    parseOrderConfirmed(content);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/**
 * Where a message was dead-lettered, and why; the shop's queue for one whose history the broker did not write. A wait among the
 * retries does not count, and one that the consumer rejected after its last delivery met the limit.
 */
function deathOf(
  headers: Readonly<Record<string, unknown>>,
): Pick<DeadLetter, 'queue' | 'reason' | 'deadLetteredAt' | 'times'> {
  const history = Array.isArray(headers['x-death']) ? (headers['x-death'] as Record<string, unknown>[]) : [];
  const { queue, reason, time, count } = history.find((death) => death.queue !== RETRIES_QUEUE) ?? {};
  const deliveries = headers[DELIVERIES_HEADER];
  const isLimit = reason === 'rejected' && typeof deliveries === 'number' && deliveries >= DELIVERY_LIMIT;
  return {
    queue: typeof queue === 'string' && queue !== '' ? queue : ORDER_CONFIRMED_QUEUE,
    reason: isLimit ? 'delivery_limit' : typeof reason === 'string' ? reason : null,
    deadLetteredAt: isTimestamp(time) ? new Date(time.value * 1000).toISOString() : null,
    times: typeof count === 'number' ? count : 0,
  };
}

/** As amqplib reads a time of AMQP, in seconds since 1970. */
function isTimestamp(value: unknown): value is { readonly value: number } {
  return typeof value === 'object' && value !== null && typeof (value as { value?: unknown }).value === 'number';
}

interface Publication {
  readonly queue: string;
  readonly message: GetMessage;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** Resolves when the broker has confirmed; rejects when it refused, or had no such queue. */
function publish(channel: ConfirmChannel, { queue, message, headers }: Publication): Promise<void> {
  const { content, properties } = message;
  return new Promise((resolve, reject) => {
    const returned = () => reject(new Error(`there is no queue ${queue}`));
    channel.once('return', returned);
    const options = { ...properties, headers, mandatory: true };
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
    timer = setTimeout(
      () => reject(new Error(`no response within ${RESPONSE_TIMEOUT_MS / 1000} s`)),
      RESPONSE_TIMEOUT_MS,
    );
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
