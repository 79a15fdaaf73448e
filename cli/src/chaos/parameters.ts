import type { Static, TObject } from 'typebox';
import { Value } from 'typebox/value';
import { CliError } from '../errors.ts';
import { durationMs, signedDurationMs, writeDuration } from '../shared/duration.ts';
import { suggestName } from '../shared/suggest-name.ts';

/**
 * Checks parameters before anything happens. Throws CliError (2) with every problem: unknown names with the nearest one
 * that exists, missing ones, values out of range.
 */
export function checkParameters<S extends TObject>(
  schema: S,
  given: Readonly<Record<string, unknown>>,
  subject: string,
): Static<S> {
  const known = Object.keys(schema.properties);
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  const problems = [
    ...unknown.map((name) => unknownName(name, known)),
    ...Value.Errors(schema, given)
      // Reported above, with the nearest name.
      .filter(
        ({ keyword, instancePath }) => keyword !== 'additionalProperties' && !unknown.includes(instancePath.slice(1)),
      )
      .map((error) => describe(error, given)),
  ];
  if (problems.length === 0) return given as Static<S>;
  throw new CliError({
    code: 'invalid_fault',
    what: `invalid parameters for ${subject}`,
    why: [...new Set(problems)].join('\n'),
    next: `parameters of ${subject}: ${known.map((name) => describeParameter(schema, name)).join('; ') || 'none'}`,
  });
}

/** `latency (delay of each piece of data, in ms)`, with "optional" where it is. */
export function describeParameter(schema: TObject, name: string): string {
  const { description = '', unit } = schema.properties[name] as ParameterSchema;
  const isRequired = (schema.required as readonly string[] | undefined)?.includes(name) ?? false;
  return `${name} (${description}${describeUnit(unit)}${isRequired ? '' : ', optional'})`;
}

function describeUnit(unit: string | undefined): string {
  if (unit === undefined) return '';
  return unit === 'ms' ? ', a duration like 200ms' : ', a duration like 30s or -1h';
}

/** The parts of a parameter's schema that texts and options are made of. */
export interface ParameterSchema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly { readonly const?: string }[];
  readonly description?: string;
  /** `ms`: may be written as a duration (`3s`) wherever people write it; `signed ms`: as one with a direction (`-1h`). */
  readonly unit?: string;
}

/** Parameters as people write them (`{latency: "3s"}`) with durations in ms. What cannot be read is left for the check. */
export function readDurations(
  schema: TObject,
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const read = (name: string, value: unknown) => {
    const { unit } = (schema.properties[name] ?? {}) as ParameterSchema;
    if (typeof value !== 'string') return value;
    if (unit === 'signed ms') return signedDurationMs(value) ?? value;
    return unit === 'ms' ? (durationMs(value) ?? value) : value;
  };
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, read(name, value)]));
}

/** The inverse: `{latency: 3000}` is `{latency: "3s"}`, as experiments write it. */
export function writeDurations(
  schema: TObject,
  parameters: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, written(schema, name, value)]));
}

/** Parameters for people: `latency 3s, jitter 200ms`. */
export function writeParameters(schema: TObject, parameters: Readonly<Record<string, unknown>>): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name} ${String(written(schema, name, value))}`)
    .join(', ');
}

function written(schema: TObject, name: string, value: unknown): unknown {
  const { unit } = (schema.properties[name] ?? {}) as ParameterSchema;
  return unit !== undefined && typeof value === 'number' ? writeDuration(value) : value;
}

function unknownName(name: string, known: readonly string[]): string {
  const suggestion = suggestName(name, known);
  return `unknown parameter "${name}"${suggestion ? `, did you mean "${suggestion}"?` : ''}`;
}

function describe(
  error: { instancePath: string; message: string; params: object },
  given: Readonly<Record<string, unknown>>,
): string {
  const missing = 'requiredProperties' in error.params ? (error.params.requiredProperties as string[]) : [];
  if (missing.length > 0) return `${missing.join(', ')} is required`;
  const name = error.instancePath.slice(1);
  return `${name} ${error.message}, got ${JSON.stringify(given[name])}`;
}
