import { isUtf8 } from 'node:buffer';
import { ProblemError } from './problems.ts';

/**
 * A JSON request body (RFC 8259). Fastify's own parser replaces bytes that are not UTF-8 by U+FFFD, so that different
 * bodies become equal, and takes `__proto__` for a syntax error. Here a member of that name is a field like any other:
 * `JSON.parse` makes it an own property, and the schema decides. Throws ProblemError `malformed_json`.
 */
export function parseJsonBody(body: Buffer): unknown {
  if (body.length === 0) throw new ProblemError('malformed_json', 'the body is empty');
  if (!isUtf8(body)) throw new ProblemError('malformed_json', 'the body is not valid UTF-8');
  try {
    return JSON.parse(body.toString());
  } catch (error) {
    throw new ProblemError('malformed_json', 'the body is not valid JSON', { cause: error });
  }
}
