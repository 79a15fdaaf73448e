import { type Static, type TObject, type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';
import { tracks } from './release.ts';

/** All that is wrong with the environment, in one error. Values of secrets never appear in it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** `postgres://` and `amqp://` URLs carry passwords, so they are reported without their value. */
const SECRET = /URL$|PASSWORD|SECRET|TOKEN/;

// A description is what docs/configuration.md says of the variable.
export const port = (description: string) => Type.Integer({ minimum: 1, maximum: 65_535, description });
export const milliseconds = (description: string, defaultMs: number, maximum = 600_000) =>
  Type.Integer({ minimum: 1, maximum, default: defaultMs, description });
/** For how long rows are kept (keep-days.ts). */
export const keepDays = (description: string, minimum: number, defaultDays = minimum) =>
  Type.Integer({ minimum, maximum: 36_500, default: defaultDays, description });
export const url = (description: string, scheme: string) => Type.String({ pattern: `^${scheme}://.+`, description });

/**
 * The lame-duck phase, then the longest in-flight work (a request that came last in it: the gateway responds within 9.5 s),
 * then what a service closes.
 */
export const DEFAULT_DRAIN_TIMEOUT_MS = 15_000;

/** What every service reads. */
export const commonVariables = {
  HOST: Type.String({ default: '127.0.0.1', description: 'address to listen on' }),
  PORT: port('port to listen on: gRPC for stock, HTTP for the others'),
  INSTANCE: Type.Optional(
    Type.String({ pattern: '^[a-z0-9-]{1,40}$', description: 'name of the instance; without it `<service>-1`' }),
  ),
  SHOP_TRACK: Type.Enum([...tracks], {
    default: 'stable',
    description: 'the group of instances that this one belongs to, in telemetry and in `/health/ready`',
  }),
  SHOP_VERSION: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'the version of its release, in telemetry and in `/health/ready`; without it that of its package',
    }),
  ),
  LOG_LEVEL: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
    default: 'info',
    description: 'the least level that is logged',
  }),
  UPSTREAMS_FILE: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'file of [live upstreams](#live-upstreams), read again when it changes',
    }),
  ),
  DRAIN_TIMEOUT_MS: milliseconds('how long SIGTERM waits for in-flight work', DEFAULT_DRAIN_TIMEOUT_MS, 60_000),
  EXIT_WITH_PARENT: Type.Optional(
    Type.Enum(['0', '1'], { description: '`1`: exit when standard input closes (the supervisor is gone)' }),
  ),
};

export const databaseVariables = (poolSize: number) => ({
  DATABASE_URL: url("the service's own database, with its own role", 'postgres(ql)?'),
  DATABASE_POOL_SIZE: Type.Integer({
    minimum: 1,
    maximum: 100,
    default: poolSize,
    description: 'connections of one instance to its database',
  }),
});

/**
 * The environment as a typed, frozen object: named variables only, defaults filled in, numbers converted.
 * Throws ConfigError naming every wrong variable with what was expected and what was got.
 */
export function parseEnvironment<T extends TObject>(schema: T, env: NodeJS.ProcessEnv): Static<T> {
  const names = Object.keys(schema.properties);
  const given = names.filter((name) => env[name] !== undefined);
  const read = Object.fromEntries(given.map((name) => [name, convert(schema.properties[name], env[name] as string)]));
  const converted = Value.Default(schema, read);
  const errors = Value.Errors(schema, converted);
  if (errors.length > 0) {
    const lines = new Set(errors.map((error) => describe(error, env)));
    throw new ConfigError(`configuration: ${[...lines].join('; ')}`);
  }
  return Object.freeze(converted) as Static<T>;
}

/** Whole numbers only: TypeBox's own conversion takes "1.5" for 1 and "true" for 1. */
function convert(schema: TSchema | undefined, text: string): string | number {
  return schema !== undefined && Type.IsInteger(schema) && /^-?\d+$/.test(text) ? Number(text) : text;
}

function describe(error: { instancePath: string; message: string; params: object }, env: NodeJS.ProcessEnv): string {
  const missing = 'requiredProperties' in error.params ? (error.params.requiredProperties as string[]) : [];
  if (missing.length > 0) return `${missing.join(', ')} must be set`;
  const name = error.instancePath.slice(1);
  const got = SECRET.test(name) ? 'another value' : `"${env[name] ?? ''}"`;
  return `${name} ${error.message}, got ${got}`;
}

/** `a,b` as a list of trimmed, non-empty parts. */
export function parseList(value: string): readonly string[] {
  return value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
