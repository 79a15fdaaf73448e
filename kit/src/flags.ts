import { existsSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import {
  createEvaluationEvent,
  type Hook,
  OpenFeature,
  ProviderEvents,
  StandardResolutionReasons,
} from '@openfeature/server-sdk';
import { messageOf } from './failures.ts';
import { type FlagDefinition, type FlagFile, offDefinition, parseFlagFile } from './flag-file.ts';
import { type FlagName, flagNames } from './flag-names.ts';
import { createFlagProvider } from './flag-provider.ts';
import { shareOn } from './flag-share.ts';
import { followFile } from './follow-file.ts';
import type { Logger } from './logger.ts';

/** The feature flags of a service. */
export interface Flags extends Disposable {
  /**
   * Whether a flag is on for what has this key. A share of the keys may have it on; one key has the same value in each
   * instance and at each time, as long as the file is the same. A flag whose value is not available is off. Never rejects.
   */
  isOn(name: FlagName, targetingKey: string): Promise<boolean>;
  /** The share of the keys, from 0 to 1, for which it is on now; undefined where no share decides. */
  shareOn(name: FlagName): number | undefined;
}

const noFlags: FlagFile = { flags: {} };

/**
 * The flags of a file in flagd's format, read again when it changes; without a file all are off. A file that cannot be read
 * changes nothing and is logged. The values come through OpenFeature (domain `shop`), so that a flag service can take the
 * file's place.
 */
export async function openFlags(file: string | undefined, logger: Logger): Promise<Flags> {
  const failed = new Set<string>();
  const provider = createFlagProvider();
  provider.load(ownFlags(noFlags));
  await OpenFeature.setProviderAndWait('shop', provider);
  const client = OpenFeature.getClient('shop').addHooks(evaluationEvents(logger), failures(logger, failed));
  let fixed: ReadonlyMap<FlagName, boolean> = new Map();

  /** A flag without a rule has one value for all keys, which is kept: an evaluation costs 15 microseconds of CPU. */
  async function refresh(): Promise<void> {
    const { current } = provider;
    const values = new Map<FlagName, boolean>();
    const names = flagNames.filter((name) => !hasRule(current.flags[name]));
    for (const name of names) values.set(name, await client.getBooleanValue(name, false));
    // Otherwise they are of an earlier file, and the refresh for the later one may have ended already.
    if (provider.current === current) fixed = values;
  }

  function load(path: string): void {
    try {
      const now = ownFlags(existsSync(path) ? parseFlagFile(readFileSync(path, 'utf8')) : noFlags);
      if (isDeepStrictEqual(now, provider.current)) return;
      provider.load(now);
      failed.clear();
      logger.info({ flags: flagNames.filter((name) => isSwitchedOn(now.flags[name])) }, 'feature flags changed');
    } catch (error) {
      logger.warn({ reason: messageOf(error) }, 'the feature flags stay as they were');
    }
  }

  const open = new DisposableStack();
  if (file !== undefined) load(file);
  await refresh();
  if (file !== undefined) {
    client.addHandler(ProviderEvents.ConfigurationChanged, refresh);
    open.defer(() => client.removeHandler(ProviderEvents.ConfigurationChanged, refresh));
    open.use(followFile(file, () => load(file)));
  }
  return {
    isOn: async (name, targetingKey) => fixed.get(name) ?? client.getBooleanValue(name, false, { targetingKey }),
    shareOn: (name) => shareOn(provider.current.flags[name] ?? offDefinition),
    [Symbol.dispose]: () => open.dispose(),
  };
}

/** What the file says of every flag that exists here, and what their rules refer to. */
function ownFlags({ flags, ...more }: FlagFile): FlagFile {
  return { ...more, flags: Object.fromEntries(flagNames.map((name) => [name, flags[name] ?? offDefinition])) };
}

function hasRule(flag: FlagDefinition | undefined): boolean {
  return flag?.state === 'ENABLED' && Object.keys(flag.targeting ?? {}).length > 0;
}

/** On for all or for some keys. */
function isSwitchedOn(flag: FlagDefinition | undefined): boolean {
  if (flag?.state !== 'ENABLED') return false;
  return hasRule(flag) || flag.variants[flag.defaultVariant ?? ''] === true;
}

/** Each evaluation as an event of OpenTelemetry's semantic conventions, at level debug: there may be one for every order. */
function evaluationEvents(logger: Logger): Hook {
  return {
    finally(context, details) {
      if (!logger.isLevelEnabled('debug')) return;
      const { name, attributes } = createEvaluationEvent(context, details);
      logger.debug({ event_name: name, ...attributes }, name);
    },
  };
}

/** A rule that cannot be evaluated leaves its flag off. It is logged once, not for every order. */
function failures(logger: Logger, failed: Set<string>): Hook {
  return {
    finally({ flagKey }, { reason, errorMessage }) {
      if (reason !== StandardResolutionReasons.ERROR || failed.has(flagKey)) return;
      failed.add(flagKey);
      logger.warn({ flag: flagKey, reason: errorMessage }, 'a feature flag is off, because it cannot be evaluated');
    },
  };
}
