import { CliError } from '../errors.ts';

/** Variables that services get unchanged: another value restarts them. */
const OF_SERVICES =
  /^(LOG_LEVEL|SHOP_TRACK|DRAIN_TIMEOUT_MS|DATABASE_POOL_SIZE|CONSUMER_PREFETCH|OTEL_SDK_DISABLED|OTEL_(TRACES|METRICS|LOGS)_EXPORTER|EDGE_.*)$/;

/**
 * Variables that decide which components there are, and what services can be configured with: read when a platform
 * starts.
 */
const OF_THE_PLATFORM =
  /^SHOPCTL_(FAILPOINTS|PROBE|PAGER_WEBHOOK|PAGER_ROUTING_KEY|RABBITMQ_START|(POSTGRES|RABBITMQ|TOXIPROXY|JAEGER|PROMETHEUS)_URL)$/;

/** Values of variables by name. Some are URLs with passwords: never printed, never kept in state.json. */
export type Settings = Readonly<Record<string, string>>;

export function isServiceSetting(name: string): boolean {
  return OF_SERVICES.test(name);
}

/** What an environment says of services and of the platform; empty means unset. Pure. */
export function settingsIn(env: NodeJS.ProcessEnv): Settings {
  return select(env, (name) => OF_SERVICES.test(name) || OF_THE_PLATFORM.test(name));
}

/** A setting of services, whose values are no secrets; null where it is unset. */
export interface ChangedSetting {
  readonly name: string;
  readonly from: string | null;
  readonly to: string | null;
}

/** Whether the supervisor probes the gateway. Throws CliError (2) for a value that says neither. Pure. */
export function wantsProbe({ SHOPCTL_PROBE: text }: NodeJS.ProcessEnv): boolean {
  if (text === undefined || text === '' || text === 'on') return true;
  if (text === 'off') return false;
  throw new CliError({
    code: 'invalid_configuration',
    what: `SHOPCTL_PROBE is "${text}"`,
    next: 'set it to "on" or "off", or unset it',
  });
}

/** What a running platform makes of the settings that another `up` brings. */
export interface ChangedSettings {
  /** The platform's environment with the settings of services as they are now. */
  readonly env: NodeJS.ProcessEnv;
  /** The settings of services whose value is another one. */
  readonly changed: readonly ChangedSetting[];
  /** For people: what stays although it is unset now. */
  readonly warnings: readonly string[];
}

/** Throws CliError (2) for a setting that a running platform cannot take. Pure. */
export function changeSettings(env: NodeJS.ProcessEnv, settings: Settings | undefined): ChangedSettings {
  if (settings === undefined) return { env, changed: [], warnings: [] };
  const before = settingsIn(env);
  const names = [...new Set([...Object.keys(before), ...Object.keys(settings)])].toSorted();
  const different = names.filter((name) => before[name] !== settings[name]);
  const fixed = different.filter((name) => OF_THE_PLATFORM.test(name));
  const set = fixed.filter((name) => settings[name] !== undefined);
  if (set.length > 0) {
    throw new CliError({
      code: 'restart_required',
      what: `${set.join(', ')} cannot be changed while the platform runs`,
      why: 'its components were chosen, and its supervisor started, with another value',
      next: 'run "shopctl down", then "shopctl up" again, or unset it',
    });
  }
  const others = Object.entries(env).filter(([name]) => !OF_SERVICES.test(name));
  return {
    env: { ...Object.fromEntries(others), ...select(settings, isServiceSetting) },
    changed: different
      .filter(isServiceSetting)
      .map((name) => ({ name, from: before[name] ?? null, to: settings[name] ?? null })),
    warnings: fixed.map(
      (name) => `${name} was set when the platform was started and is not now: it stays until "shopctl down"`,
    ),
  };
}

function select(env: NodeJS.ProcessEnv, isWanted: (name: string) => boolean): Settings {
  const entries = Object.entries(env).filter((entry): entry is [string, string] => !!entry[1] && isWanted(entry[0]));
  return Object.fromEntries(entries);
}
