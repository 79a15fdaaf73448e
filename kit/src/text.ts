import { Type } from 'typebox';

interface Limits {
  readonly minLength: number;
  readonly maxLength: number;
}

/**
 * A string that is stored or compared as it came: the schema of every free text in a JSON body. Without NUL, which PostgreSQL's text
 * cannot hold (SQLSTATE 22021); `parseJsonBody` has refused lone surrogates, which pattern dialects without them cannot name.
 */
export function storableText(limits: Limits) {
  return Type.String({ ...limits, pattern: '^[^\\x00]*$' });
}

/**
 * The same for a string of a gRPC message. Proto3 demands UTF-8, and protobufjs does not check it: it leaves U+FFFD in place
 * of other bytes, so that different texts become equal.
 */
export function decodedText(limits: Limits) {
  return Type.String({ ...limits, pattern: '^[^\\x00\\uFFFD]*$' });
}
