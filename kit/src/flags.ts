import { existsSync, readFileSync, unwatchFile, watchFile } from 'node:fs';
import { InMemoryProvider, OpenFeature } from '@openfeature/server-sdk';
import { messageOf } from './failures.ts';
import type { Logger } from './logger.ts';

/** A feature that is in the code and waits to be switched on. */
export interface Flag {
  /** Who asks for it. */
  readonly service: 'orders';
  /** What happens while it is on. */
  readonly title: string;
}

/** Every flag. All are off where nothing is said. */
export const flags = {
  'publish-order-confirmed-v2': {
    service: 'orders',
    title: 'publishes order.confirmed.v2 beside order.confirmed, for the time in which consumers change over',
  },
} as const satisfies Record<string, Flag>;

export type FlagName = keyof typeof flags;

export function isFlagName(name: string): name is FlagName {
  return Object.hasOwn(flags, name);
}

/** What a service asks before it does something that a flag decides. */
export interface Flags extends Disposable {
  /** Never rejects: a flag whose value cannot be had is off. */
  isOn(name: FlagName): Promise<boolean>;
}

/** How often the file of flags is looked at, in ms. */
const LOOK_EVERY_MS = 500;

/**
 * The flags of a file, `{"<name>": true}`, read again when it changes; without a file all are off. A file that cannot be
 * read changes nothing and is logged. The values are given through OpenFeature (domain `shop`), so that a flag service can take the
 * file's place.
 */
export async function openFlags(file: string | undefined, logger: Logger): Promise<Flags> {
  const provider = new InMemoryProvider(configurationOf(new Set()));
  await OpenFeature.setProviderAndWait('shop', provider);
  const client = OpenFeature.getClient('shop');

  function load(path: string): void {
    try {
      const on = existsSync(path) ? parseFlags(readFileSync(path, 'utf8')) : new Set<FlagName>();
      provider.putConfiguration(configurationOf(on));
      logger.info({ flags: [...on] }, 'feature flags were read');
    } catch (error) {
      logger.warn({ reason: messageOf(error) }, 'the feature flags stay as they were');
    }
  }

  if (file !== undefined) {
    load(file);
    // By polling, which also sees a file that is replaced or made later; it keeps no process alive.
    watchFile(file, { interval: LOOK_EVERY_MS, persistent: false }, () => load(file));
  }
  return {
    isOn: (name) => client.getBooleanValue(name, false),
    [Symbol.dispose]: () => file !== undefined && unwatchFile(file),
  };
}

/** The flags that are on. Unknown names pass: the file may be newer than this service. Throws TypeError for another shape. */
export function parseFlags(text: string): ReadonlySet<FlagName> {
  const values: unknown = JSON.parse(text);
  const isRecord = typeof values === 'object' && values !== null && !Array.isArray(values);
  if (!isRecord || Object.values(values).some((value) => typeof value !== 'boolean')) {
    throw new TypeError('feature flags are an object of true and false, {"<name>": true}');
  }
  const on = Object.entries(values).filter(([, value]) => value === true);
  return new Set(on.map(([name]) => name).filter(isFlagName));
}

function configurationOf(on: ReadonlySet<FlagName>): Parameters<InMemoryProvider['putConfiguration']>[0] {
  const entries = (Object.keys(flags) as FlagName[]).map((name) => [
    name,
    { variants: { on: true, off: false }, defaultVariant: on.has(name) ? 'on' : 'off', disabled: false },
  ]);
  return Object.fromEntries(entries);
}
