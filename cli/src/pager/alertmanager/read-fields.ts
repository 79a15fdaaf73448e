import type { LabelSet } from '../label-set.ts';
import { invalid } from './responses.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A body that has other types than the OpenAPI document says. Go's words about it are not repeated. */
function unparsed(body: string, why: string): Error {
  return invalid(400, 400, `parsing ${body} body from "" failed, because ${why}`);
}

export function missing(path: string): Error {
  return invalid(422, 602, `${path} in body is required`);
}

/** null is an absent one, as in Go. */
export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

export function objectOf(value: unknown, body: string, path: string): Fields {
  if (isAbsent(value)) return {};
  if (typeof value === 'object' && !Array.isArray(value)) return value as Fields;
  throw unparsed(body, `${path} is not an object`);
}

export function listOf(value: unknown, body: string, path: string): readonly unknown[] {
  if (isAbsent(value)) return [];
  if (Array.isArray(value)) return value;
  throw unparsed(body, `${path} is not an array`);
}

export function stringOf(value: unknown, body: string, path: string): string | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value === 'string') return value;
  throw unparsed(body, `${path} is not a string`);
}

export function booleanOf(value: unknown, body: string, path: string): boolean | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value === 'boolean') return value;
  throw unparsed(body, `${path} is not a boolean`);
}

export function labelsOf(value: unknown, body: string, path: string): LabelSet {
  const entries = Object.entries(objectOf(value, body, path));
  return Object.fromEntries(entries.map(([name, one]) => [name, stringOf(one, body, `${path}.${name}`) ?? '']));
}

/** RFC 3339, also without the zone, the time or the `T`. Source: go-openapi/strfmt, `DateTimeFormats`. */
const TIME = /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(Z|z|[+-]\d\d:?\d\d)?)?$/;

/** ms since 1970; undefined for an absent one, and for Go's zero time. */
export function timeOf(value: unknown, body: string, path: string): number | undefined {
  const text = stringOf(value, body, path);
  if (text === undefined || text === '') return undefined;
  const ms = parseTime(text);
  if (Number.isNaN(ms)) throw unparsed(body, `${path} is not a time: ${JSON.stringify(text)}`);
  return ms <= ZERO_YEAR_END ? undefined : ms;
}

/** The last moment of the year 1, in which Go's zero time is. */
const ZERO_YEAR_END = Date.parse('0001-12-31T23:59:59.999Z');

function parseTime(text: string): number {
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] =
    TIME.exec(text) ?? [];
  if (year === undefined) return Number.NaN;
  const offset = /^[zZ]$/.test(zone) ? 'Z' : zone.replace(/^(.\d\d):?/, '$1:');
  const ms = fraction.slice(0, 3).padEnd(3, '0');
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}${offset}`);
}
