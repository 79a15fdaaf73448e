import type { SeededBugName } from '@shop/kit/seeded-bug-names.ts';
import { type InstrumentationKind, instrumentationKinds } from '@shop/kit/telemetry/instrumentation.ts';
import { CliError } from '../errors.ts';
import { isPortOrAny } from '../shared/port-number.ts';
import type { UpRequest } from './control-client.ts';
import type { InspectPorts } from './plan.ts';
import { readConfigFile } from './project.ts';
import { type RuntimeKind, runtimeKinds } from './service-runtime.ts';
import { settingsIn, wantsProbe } from './settings.ts';
import { webhookSettings } from './webhook-settings.ts';

/** What a platform can have beside what orders need. */
export const platformParts = ['alerts'] as const;

export type PlatformPart = (typeof platformParts)[number];

/** The options of a start; what is left open is taken from the environment and the configuration file. */
export interface StartOptions {
  /** Seconds. */
  readonly waitTimeout?: number;
  readonly replicas?: Readonly<Record<string, number>>;
  readonly provider?: Readonly<Record<string, string>>;
  /** Of the gateway; 0: any free one. */
  readonly port?: number;
  readonly direct?: boolean;
  readonly runtime?: RuntimeKind;
  readonly instrumentation?: InstrumentationKind;
  /** Parts to run too, until they are left out or the platform ends. */
  readonly with?: readonly PlatformPart[];
  /** Parts to stop. */
  readonly without?: readonly PlatformPart[];
  readonly seedBug?: readonly SeededBugName[];
  /** Services that wait for a debugger. */
  readonly inspect?: InspectPorts;
  /** Gives up the way back to releases that are kept, for contract migrations. */
  readonly pointOfNoReturn?: boolean;
  readonly build: boolean;
  /** Why, for the change log. */
  readonly reason?: string;
}

const DEFAULT_WAIT_SECONDS = 180;

/** What the supervisor is asked for: options come before the environment, which comes before the configuration file. */
export function startRequest(
  services: readonly string[],
  options: StartOptions,
  { root, env }: { root: string; env: NodeJS.ProcessEnv },
): UpRequest {
  const config = readConfigFile(root, env);
  // The supervisor reads these when it starts; what is wrong with them is said here.
  wantsProbe(env);
  webhookSettings(env);
  const waitSeconds = options.waitTimeout ?? fromEnv(env) ?? config.waitTimeout ?? DEFAULT_WAIT_SECONDS;
  const runtime = chosenKind(options.runtime, runtimeKinds, {
    noun: 'runtime',
    variable: 'SHOPCTL_RUNTIME',
    configured: config.runtime,
    env,
  });
  const instrumentation = chosenKind(options.instrumentation, instrumentationKinds, {
    noun: 'instrumentation',
    variable: 'SHOPCTL_INSTRUMENTATION',
    configured: config.instrumentation,
    env,
  });
  return {
    services,
    replicas: options.replicas ?? {},
    ...directOption(options, config.direct, env),
    ...(runtime && { runtime }),
    ...(instrumentation && { instrumentation }),
    ...partsOption(options, config.with, env),
    ...portOption(options, env),
    providers: { ...config.providers, ...options.provider },
    settings: settingsIn(env),
    ...(options.pointOfNoReturn && { pointOfNoReturn: true }),
    ...(options.seedBug && { seededBugs: options.seedBug }),
    ...(options.inspect && { inspect: options.inspect }),
    waitTimeoutMs: waitSeconds * 1000,
  };
}

function fromEnv({ SHOPCTL_WAIT_TIMEOUT: text }: NodeJS.ProcessEnv): number | undefined {
  if (text === undefined || text === '') return undefined;
  const seconds = Number(text);
  if (Number.isFinite(seconds) && seconds > 0) return seconds;
  throw new CliError({
    code: 'invalid_configuration',
    what: `SHOPCTL_WAIT_TIMEOUT is "${text}"`,
    next: 'set it to a number of seconds above 0, or unset it',
  });
}

function portOption({ port }: StartOptions, { SHOPCTL_PORT: text }: NodeJS.ProcessEnv): { port?: number } {
  if (port !== undefined) return { port };
  if (text === undefined || text === '') return {};
  if (isPortOrAny(text)) return { port: Number(text) };
  throw new CliError({
    code: 'invalid_configuration',
    what: `SHOPCTL_PORT is "${text}"`,
    next: 'set it to a port from 1 to 65535, to 0 for any free one, or unset it',
  });
}

/** Nothing said: as the platform is wired already, through proxies at the first start. */
function directOption(
  { direct }: StartOptions,
  configured: boolean | undefined,
  env: NodeJS.ProcessEnv,
): { direct?: boolean } {
  const fromEnvironment = env.SHOPCTL_DIRECT ? env.SHOPCTL_DIRECT === '1' || env.SHOPCTL_DIRECT === 'true' : undefined;
  const chosen = direct ?? fromEnvironment ?? configured;
  return chosen === undefined ? {} : { direct: chosen };
}

/** Nothing said: as the platform runs already. Who chooses where Prometheus comes from wants it. */
function partsOption(
  { with: wanted = [], without = [], provider }: StartOptions,
  configured: string | undefined,
  env: NodeJS.ProcessEnv,
): { alerts?: boolean } {
  const both = wanted.find((part) => without.includes(part));
  if (both !== undefined) {
    throw new CliError({
      code: 'invalid_usage',
      what: `--with ${both} cannot be combined with --without ${both}`,
      next: 'leave one of them out',
    });
  }
  if (without.includes('alerts')) return { alerts: false };
  const usual = partsIn(env.SHOPCTL_WITH || configured || '');
  const isWanted = wanted.includes('alerts') || provider?.prometheus !== undefined || usual.includes('alerts');
  return isWanted ? { alerts: true } : {};
}

/** Names, separated by commas. Throws CliError (2) for one that there is not. */
function partsIn(text: string): readonly PlatformPart[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
    .map((name) => {
      const part = platformParts.find((known) => known === name);
      if (part !== undefined) return part;
      throw new CliError({
        code: 'invalid_configuration',
        what: `"${name}" is not a part of the platform`,
        why: `SHOPCTL_WITH or the configuration file names it; parts are ${platformParts.join(', ')}`,
        next: 'correct it, or choose one with --with',
      });
    });
}

/** Nothing said: as the platform runs already, the first of its kinds at the first start. */
function chosenKind<Kind extends string>(
  option: Kind | undefined,
  kinds: readonly Kind[],
  {
    noun,
    variable,
    configured,
    env,
  }: { noun: string; variable: string; configured?: string | undefined; env: NodeJS.ProcessEnv },
): Kind | undefined {
  const chosen = option ?? (env[variable] || configured);
  const known = kinds.find((kind) => kind === chosen);
  if (chosen === undefined || known) return known;
  throw new CliError({
    code: 'invalid_configuration',
    what: `"${chosen}" is not a valid ${noun}`,
    why: `${variable} or the configuration file names it; there are ${kinds.join(' and ')}`,
    next: `correct it, or choose one with --${noun}`,
  });
}
