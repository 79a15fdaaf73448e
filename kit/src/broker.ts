import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import amqp, { type ChannelModel, type RecoveringChannelModel } from 'amqplib';
import { messageOf } from './failures.ts';
import { type EdgeUpstreams, fixedUpstreams, urlAt } from './live-upstreams.ts';
import type { Logger } from './logger.ts';

export interface Broker extends AsyncDisposable {
  /** True between a successful set-up and the loss of the connection. */
  readonly connected: boolean;
  /** The broker's reason while it takes no publishes (a memory or disk alarm), undefined otherwise. */
  readonly blocked: string | undefined;
}

export interface BrokerOptions {
  readonly url: string;
  /** Where the broker is, also when that changes; without them it stays at the address of `url`. */
  readonly upstreams?: EdgeUpstreams;
  readonly logger: Logger;
  /** Name shown by the broker's tools. */
  readonly connectionName: string;
  /**
   * Creates channels, topology and consumers; called after each connection, which is dropped when it rejects. `url` is where
   * the connection was made.
   */
  setUp(connection: ChannelModel, url: string): Promise<void>;
  /** How long `setUp` may take, in ms; 10 s by default. */
  readonly setUpTimeoutMs?: number;
  /** The connection is lost; channels made by `setUp` are closed. Also called when it is left for another address. */
  onLost?(): void;
  /** The connection is left for another address, before `onLost`; it is closed when the promise has settled. */
  onLeave?(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 2_000;
const HEARTBEAT_S = 10;
/** The first declaration of a quorum queue takes a second on a busy broker; AMQP has no timeouts for requests. */
const SET_UP_TIMEOUT_MS = 10_000;
/** How long the broker may take to confirm the end of a connection, in ms. */
const CLOSE_TIMEOUT_MS = 1_000;
/**
 * Pauses between connection attempts, in ms: constant while a broker that starts with the service is expected (its boot
 * takes seconds, a refused attempt costs a millisecond), then longer.
 */
const FIRST_RETRIES = { count: 60, pauseMs: 100 };
const LATER_PAUSE_MS = { least: 1_000, most: 2_000 };

/**
 * Starts connecting and returns immediately. Reconnects without end: every 0.1 s at first, every 1 to 2 s later. A service
 * starts, and stays up, without its broker. When the broker's address changes, a connection to the new one is made while the
 * old one is left: `onLeave`, then its end.
 */
export async function openBroker(options: BrokerOptions): Promise<Broker> {
  const { logger, upstreams = fixedUpstreams } = options;
  const urlNow = () => urlAt(options.url, upstreams);
  let current = await openLine(urlNow(), options);
  const ends = new Set<Promise<void>>();
  let moving = Promise.resolve();

  function end(line: Line): void {
    line.leave();
    const settled = options.onLeave?.() ?? Promise.resolve();
    options.onLost?.();
    const closed = settled
      .catch((error: unknown) => logger.info({ reason: messageOf(error) }, 'leaving the former address of the broker'))
      .then(() => line.close())
      .finally(() => ends.delete(closed));
    ends.add(closed);
  }

  async function move(): Promise<void> {
    if (urlNow() === current.url) return;
    end(current);
    current = await openLine(urlNow(), options);
  }

  const followed = upstreams.follow(() => {
    moving = moving.then(move).catch((error: unknown) => {
      logger.error({ reason: messageOf(error) }, 'the broker could not be followed to its new address');
    });
  });

  return {
    get connected() {
      return current.connected;
    },
    get blocked() {
      return current.blocked;
    },
    async [Symbol.asyncDispose]() {
      followed[Symbol.dispose]();
      await moving;
      await current.close();
      await Promise.all(ends);
    },
  };
}

/** A connection to one address, which is made again whenever it is lost. */
interface Line {
  readonly url: string;
  readonly connected: boolean;
  readonly blocked: string | undefined;
  /** It counts as not connected from now on, and reports nothing more. */
  leave(): void;
  close(): Promise<void>;
}

async function openLine(url: string, options: BrokerOptions): Promise<Line> {
  const { logger } = options;
  let isLeft = false;
  const onLost = () => {
    if (!isLeft) options.onLost?.();
  };
  let connected = false;
  let blocked: string | undefined;
  let latest: ChannelModel | undefined;

  const connection: RecoveringChannelModel = await amqp.connect(withHeartbeat(url), {
    timeout: CONNECT_TIMEOUT_MS,
    clientProperties: { connection_name: options.connectionName },
    recovery: {
      calculateDelay: retryPauseMs,
      waitForConnect: false,
      async setup(model: ChannelModel) {
        latest = model;
        const setUp = async () => {
          if (isLeft) throw new Error('the broker has another address');
          await options.setUp(model, url);
        };
        await setUpOrDrop(model, { ...options, setUp, onLost });
        connected = true;
        blocked = undefined;
      },
    },
  });
  let isLogged = false;
  connection.on('connect', () => {
    isLogged = false;
    logger.info('connected to the broker');
  });
  connection.on('error', (error) => logger.warn({ reason: messageOf(error) }, 'the broker connection failed'));
  connection.on('connect-failed', (error) => {
    // Attempts come ten a second: the first of a series is logged, the others only at debug.
    if (isLogged) return logger.debug({ reason: messageOf(error) }, 'the broker is not reachable yet');
    isLogged = true;
    // The broker sent a reply code (406: a queue exists with other arguments): the error is permanent.
    if ('code' in error && typeof error.code === 'number') {
      return logger.error({ replyCode: error.code, reason: messageOf(error) }, 'the broker rejects a declaration');
    }
    return logger.info({ reason: messageOf(error) }, 'the broker is not reachable yet');
  });
  connection.on('blocked', (reason) => {
    blocked = reason;
    logger.warn({ reason }, 'the broker takes no publishes');
  });
  connection.on('unblocked', () => {
    blocked = undefined;
    logger.info('the broker takes publishes again');
  });
  connection.on('disconnect', (error) => {
    connected = false;
    if (isLeft) return;
    logger.warn({ reason: messageOf(error) }, 'the broker connection was lost');
    onLost();
  });

  return {
    url,
    get connected() {
      return connected && !isLeft;
    },
    get blocked() {
      return blocked;
    },
    leave() {
      isLeft = true;
    },
    async close() {
      connected = false;
      const closed = connection
        .close()
        .catch((error: unknown) => logger.debug({ reason: messageOf(error) }, 'closing the broker'));
      if (latest === undefined) return;
      const isLate = delay(CLOSE_TIMEOUT_MS, 'late', { ref: false });
      if ((await Promise.race([closed, isLate])) === 'late') socketOf(latest).destroy();
    },
  };
}

/**
 * The library listens to a connection once it is set up, and not before. Its loss during the set-up would be an `error`
 * event without a listener, which ends the process. A close that the library begins does not end either when the
 * connection is lost meanwhile, so a connection whose set-up failed is dropped here.
 */
async function setUpOrDrop(
  model: ChannelModel,
  options: Pick<BrokerOptions, 'logger' | 'setUpTimeoutMs' | 'onLost'> & { setUp(): Promise<void> },
): Promise<void> {
  const { logger, setUpTimeoutMs = SET_UP_TIMEOUT_MS } = options;
  model.on('error', (error) => logger.debug({ reason: messageOf(error) }, 'the broker connection failed'));
  let isClosed = false;
  const closed = new Promise<void>((resolve) => {
    model.once('close', () => {
      isClosed = true;
      resolve();
    });
  });
  const late = new Error(`the broker did not finish the set-up within ${setUpTimeoutMs} ms`);
  const timer = setTimeout(() => socketOf(model).destroy(late), setUpTimeoutMs);
  try {
    await options.setUp();
    if (isClosed) throw new Error('the connection was lost during its set-up');
  } catch (error) {
    const isLate = socketOf(model).errored === late;
    if (!isClosed) socketOf(model).destroy(new Error('the set-up failed'));
    await closed;
    options.onLost?.();
    throw isLate ? late : error;
  } finally {
    clearTimeout(timer);
  }
}

/** Not in the library's types, and the only way to end a connection without the broker's help. */
function socketOf(model: ChannelModel): Socket {
  return (model.connection as unknown as { readonly stream: Socket }).stream;
}

/** Pause before connection attempt `attempt` (1 is the first retry); later ones are spread, so that instances do not reconnect at the same moment. */
function retryPauseMs(attempt: number, random = Math.random()): number {
  if (attempt <= FIRST_RETRIES.count) return FIRST_RETRIES.pauseMs;
  return LATER_PAUSE_MS.least + random * (LATER_PAUSE_MS.most - LATER_PAUSE_MS.least);
}

function withHeartbeat(brokerUrl: string): string {
  const url = new URL(brokerUrl);
  url.searchParams.set('heartbeat', String(HEARTBEAT_S));
  return url.href;
}
