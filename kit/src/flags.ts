import { existsSync, readFileSync } from 'node:fs';
import { InMemoryProvider, OpenFeature, ProviderEvents } from '@openfeature/server-sdk';
import { messageOf } from './failures.ts';
import { type FlagName, flags, parseFlags } from './flag-names.ts';
import { followFile } from './follow-file.ts';
import type { Logger } from './logger.ts';

/** The feature flags of a service. */
export interface Flags extends Disposable {
  /** A flag whose value is not available is off. */
  isOn(name: FlagName): boolean;
}

/**
 * The flags of a file, `{"<name>": true}`, read again when it changes; without a file all are off. A file that cannot be
 * read changes nothing and is logged. The values come through OpenFeature (domain `shop`), so that a flag service can take
 * the file's place.
 */
export async function openFlags(file: string | undefined, logger: Logger): Promise<Flags> {
  let on: ReadonlySet<FlagName> = new Set();
  const provider = new InMemoryProvider(configurationOf(on));
  await OpenFeature.setProviderAndWait('shop', provider);
  const client = OpenFeature.getClient('shop');
  const values = new Map<FlagName, boolean>();

  /** Values are kept, because evaluating a flag costs 25 microseconds of CPU, for every order. */
  async function refresh(): Promise<void> {
    for (const name of Object.keys(flags) as FlagName[]) values.set(name, await client.getBooleanValue(name, false));
  }

  function load(path: string): void {
    try {
      const now = existsSync(path) ? parseFlags(readFileSync(path, 'utf8')) : new Set<FlagName>();
      if (now.symmetricDifference(on).size === 0) return;
      on = now;
      provider.putConfiguration(configurationOf(on));
      logger.info({ flags: [...on] }, 'feature flags changed');
    } catch (error) {
      logger.warn({ reason: messageOf(error) }, 'the feature flags stay as they were');
    }
  }

  const open = new DisposableStack();
  if (file !== undefined) {
    load(file);
    await refresh();
    client.addHandler(ProviderEvents.ConfigurationChanged, refresh);
    open.defer(() => client.removeHandler(ProviderEvents.ConfigurationChanged, refresh));
    open.use(followFile(file, () => load(file)));
  }
  return {
    isOn: (name) => values.get(name) ?? false,
    [Symbol.dispose]: () => open.dispose(),
  };
}

function configurationOf(on: ReadonlySet<FlagName>): Parameters<InMemoryProvider['putConfiguration']>[0] {
  const entries = (Object.keys(flags) as FlagName[]).map((name) => [
    name,
    { variants: { on: true, off: false }, defaultVariant: on.has(name) ? 'on' : 'off', disabled: false },
  ]);
  return Object.fromEntries(entries);
}
