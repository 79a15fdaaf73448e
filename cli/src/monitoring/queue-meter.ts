import { setTimeout as delay } from 'node:timers/promises';
import { DEAD_LETTERS_QUEUE, ORDER_CONFIRMED_QUEUE, RETRIES_QUEUE } from '@shop/kit/topology.ts';
import type { Channel, ChannelModel } from 'amqplib';
import { messageOf } from '../errors.ts';
import { gaugeOf } from '../otlp/own-metrics.ts';
import type { Meter } from './meter.ts';

export interface QueueMeterOptions {
  /** AMQP URL of the operator's account, which holds a password; undefined while no broker is meant to run. */
  brokerUrl(): Promise<string | undefined>;
  /** Called once for each row of failures, and when they end. */
  onProblem(message: string): void;
}

const QUEUES = [ORDER_CONFIRMED_QUEUE, RETRIES_QUEUE, DEAD_LETTERS_QUEUE] as const;

const EVERY_MS = 1_000;
/** A broker that is frozen does not respond: from this age on what it said is not known any more. */
const KNOWN_FOR_MS = 2_500;
const CONNECT_TIMEOUT_MS = 3_000;
const CLOSE_TIMEOUT_MS = 500;
/** The library ends a connection after two of them without a sign of the broker. */
const HEARTBEAT_S = 10;
/** Pauses between attempts to connect, and between questions after a queue that is not there: the broker logs each. In ms. */
const PAUSE_MS = { first: EVERY_MS, most: 8_000 };

interface Reading {
  readonly messages: number;
  readonly consumers: number;
  readonly at: number;
}

/** Reply code of a queue that is not there. Source: AMQP 0-9-1, section 1.2. */
const NOT_FOUND = 404;

/**
 * Asks the broker every second what its queues hold, by passive declarations on one connection. Without a response there
 * is no value. The connection is made again with growing pauses.
 */
export function startQueueMeter({ brokerUrl, onProblem }: QueueMeterOptions): Meter {
  const ended = new AbortController();
  const readings = new Map<string, Reading>();
  const done = keepAsking();

  async function keepAsking(): Promise<void> {
    let pauseMs = PAUSE_MS.first;
    let isFailing = false;
    while (!ended.signal.aborted) {
      try {
        const url = await brokerUrl();
        // One that is started again is not waited for.
        if (url === undefined) pauseMs = PAUSE_MS.first / 2;
        else {
          await askUntilLost(url, () => {
            if (isFailing) onProblem('the queues of the broker are read again');
            isFailing = false;
            pauseMs = PAUSE_MS.first;
          });
        }
      } catch (error) {
        if (!isFailing && !ended.signal.aborted)
          onProblem(`the queues of the broker cannot be read: ${messageOf(error)}`);
        isFailing = true;
      }
      readings.clear();
      await pause(pauseMs);
      pauseMs = isFailing ? Math.min(2 * pauseMs, PAUSE_MS.most) : PAUSE_MS.first;
    }
  }

  /** Rejects when the connection is lost; resolves at the end. */
  async function askUntilLost(url: string, onRead: () => void): Promise<void> {
    const { default: amqp } = await import('amqplib');
    const connecting = amqp.connect(withHeartbeat(url), {
      timeout: CONNECT_TIMEOUT_MS,
      clientProperties: { connection_name: 'shopctl supervisor' },
    });
    const connection = await orOver(connecting, ended.signal).catch((error: unknown) => {
      // One that was made although the end came first.
      connecting.then(close, () => undefined);
      throw error;
    });
    const lost = new AbortController();
    connection.on('error', (error: unknown) => lost.abort(error));
    connection.once('close', () => lost.abort(new Error('the broker closed the connection')));
    const over = AbortSignal.any([ended.signal, lost.signal]);
    try {
      const ask = createAsker(connection);
      while (!over.aborted) {
        for (const queue of QUEUES) await orOver(ask(queue), over).then((found) => note(queue, found));
        onRead();
        await pause(EVERY_MS, over);
      }
      if (!ended.signal.aborted) throw lost.signal.reason;
    } finally {
      await close(connection);
    }
  }

  function note(queue: string, found: Reading | 'missing' | undefined): void {
    if (found === 'missing') readings.delete(queue);
    else if (found !== undefined) readings.set(queue, found);
  }

  async function pause(ms: number, signal: AbortSignal = ended.signal): Promise<void> {
    await delay(ms, undefined, { signal }).catch(() => undefined); // Ended early.
  }

  return {
    metrics() {
      const known = [...readings].filter(([, { at }]) => performance.now() - at <= KNOWN_FOR_MS);
      if (known.length === 0) return [];
      const valuesOf = (read: (reading: Reading) => number) =>
        known.map(([queue, reading]) => ({ value: read(reading), attributes: { queue } }));
      return [
        gaugeOf(
          'shop.queue.messages',
          { unit: '{message}', description: 'Messages of a queue that are ready for delivery.' },
          valuesOf(({ messages }) => messages),
        ),
        gaugeOf(
          'shop.queue.consumers',
          { unit: '{consumer}', description: 'Consumers of a queue.' },
          valuesOf(({ consumers }) => consumers),
        ),
      ];
    },
    async end() {
      ended.abort();
      await done;
      readings.clear();
    },
  };
}

/** Asks for one queue; undefined while a queue that was missing is not asked for again yet. */
function createAsker(connection: ChannelModel): (queue: string) => Promise<Reading | 'missing' | undefined> {
  let channel: Channel | undefined;
  const missing = new Map<string, { until: number; pauseMs: number }>();
  return async (queue) => {
    const wait = missing.get(queue);
    if (wait !== undefined && performance.now() < wait.until) return undefined;
    channel ??= await openChannel(connection);
    try {
      const { messageCount, consumerCount } = await channel.checkQueue(queue);
      missing.delete(queue);
      return { messages: messageCount, consumers: consumerCount, at: performance.now() };
    } catch (error) {
      if ((error as { code?: unknown }).code !== NOT_FOUND) throw error;
      // The broker closes the channel of such a question.
      channel = undefined;
      const pauseMs = Math.min(2 * (wait?.pauseMs ?? PAUSE_MS.first / 2), PAUSE_MS.most);
      missing.set(queue, { until: performance.now() + pauseMs, pauseMs });
      return 'missing';
    }
  };
}

async function openChannel(connection: ChannelModel): Promise<Channel> {
  const channel = await connection.createChannel();
  // The failure of a question rejects that question; without a listener it would end this process as well.
  channel.on('error', () => undefined);
  return channel;
}

/** Rejects when `over` aborts first: a broker that is frozen never responds. */
async function orOver<T>(response: Promise<T>, over: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(over.reason);
  over.addEventListener('abort', onAbort, { once: true });
  try {
    over.throwIfAborted();
    return await Promise.race([response, aborted.promise]);
  } finally {
    over.removeEventListener('abort', onAbort);
    response.catch(() => undefined); // Of a question that is not waited for any more.
  }
}

/** A broker that is frozen does not take the goodbye: then the socket is cut. */
async function close(connection: ChannelModel): Promise<void> {
  const goodbye = connection.close().catch(() => undefined); // It is closed already.
  await Promise.race([goodbye, delay(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
  // Not in the library's types.
  (connection.connection as unknown as { readonly stream: { destroy(): void } }).stream.destroy();
}

function withHeartbeat(brokerUrl: string): string {
  const url = new URL(brokerUrl);
  url.searchParams.set('heartbeat', String(HEARTBEAT_S));
  return url.href;
}
