import { isUtf8 } from 'node:buffer';
import { escapePointer, type FieldError, ProblemError } from './problems.ts';

/**
 * A JSON request body (RFC 8259) whose texts are Unicode (I-JSON, RFC 7493, 2.1). Fastify's own parser replaces bytes that are
 * not UTF-8 by U+FFFD, so that different bodies become equal, and takes `__proto__` for a syntax error. Here a member of that
 * name is a field like any other: `JSON.parse` makes it an own property, and the schema decides. Throws ProblemError
 * `malformed_json`, or `invalid_request` naming each field that has a surrogate without its other half.
 */
export function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) throw new ProblemError('malformed_json', 'the body is empty');
  if (!isUtf8(bytes)) throw new ProblemError('malformed_json', 'the body is not valid UTF-8');
  const text = bytes.toString();
  const body = parse(text);
  // In UTF-8 a surrogate can only be an escape.
  const errors = /\\ud[89a-f]/i.test(text) ? loneSurrogates(body) : [];
  if (errors.length > 0)
    throw new ProblemError('invalid_request', `${errors.length} field(s) are not valid`, { errors });
  return body;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ProblemError('malformed_json', 'the body is not valid JSON', { cause: error });
  }
}

/** A value and where it is; the path is only written out for those that are wrong. */
interface Place {
  readonly value: unknown;
  readonly key: string;
  readonly parent: Place | undefined;
}

/** A loop and not a recursion: 64 KiB of brackets nest deeper than the stack. */
function loneSurrogates(body: unknown): readonly FieldError[] {
  const errors: FieldError[] = [];
  const places: Place[] = [{ value: body, key: '', parent: undefined }];
  for (let place = places.pop(); place !== undefined; place = places.pop()) {
    const { value, key } = place;
    if (!key.isWellFormed() || (typeof value === 'string' && !value.isWellFormed())) {
      errors.push({ pointer: pointerTo(place), detail: 'has a surrogate without its other half' });
    }
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, child] of Object.entries(value)) places.push({ value: child, key: name, parent: place });
  }
  return errors.reverse();
}

function pointerTo(place: Place): string {
  const keys: string[] = [];
  for (let at = place; at.parent !== undefined; at = at.parent) keys.unshift(escapePointer(at.key.slice(0, 100)));
  return `#${keys.map((key) => `/${key}`).join('')}`;
}
