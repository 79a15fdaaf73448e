import { Type } from 'typebox';

interface Limits {
  readonly minLength: number;
  readonly maxLength: number;
}

/** Neither NUL, which PostgreSQL's text cannot hold (SQLSTATE 22021), nor a lone surrogate, which UTF-8 cannot. */
const STORABLE = '^[^\\u0000\\uD800-\\uDFFF]*$';

/** A string that is stored or compared as it came: the schema of every free text in a JSON body. */
export function storableText(limits: Limits) {
  return Type.String({ ...limits, pattern: STORABLE });
}

/** As `STORABLE`, without U+FFFD: what a lenient decoder leaves of bytes that are not UTF-8, so that different texts become equal. */
const DECODED = '^[^\\u0000\\uD800-\\uDFFF\\uFFFD]*$';

/** The same for a string of a gRPC message. Proto3 demands UTF-8, and protobufjs does not check it. */
export function decodedText(limits: Limits) {
  return Type.String({ ...limits, pattern: DECODED });
}
