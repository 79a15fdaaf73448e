import { createHash } from 'node:crypto';

/**
 * JSON with one form for one value: keys in the order of their UTF-16 code units, numbers as ECMAScript writes them (RFC 8785). Throws
 * TypeError for what JSON does not have.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value)
      .filter(([, one]) => one !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${canonicalJson(one)}`).join(',')}}`;
  }
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`JSON has no ${value}`);
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError(`JSON has no ${typeof value}`);
  return text;
}

/** SHA-256 of a value's canonical JSON, hexadecimal. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}
