const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
/** The digit that a character stands for, by its code. */
const VALUES = Uint8Array.from({ length: 128 }, (_, code) => Math.max(0, DIGITS.indexOf(String.fromCharCode(code))));
const COMMA = ','.charCodeAt(0);
const SEMICOLON = ';'.charCodeAt(0);

/**
 * A source map (as JSON text) that keeps our sources only. Node holds a whole map in memory from the first error on, and nine
 * tenths of a service's are of libraries. Their frames name the bundle, as without a map.
 */
export function ownSourceMap(text) {
  const map = JSON.parse(text);
  const isOwn = map.sources.map((source) => !source.includes('node_modules/'));
  return JSON.stringify({ ...map, mappings: ownMappings(map.mappings, isOwn) });
}

/**
 * Segments of other sources become one without a source, which ends what is before it. Format: ECMA-426; lines end with a
 * semicolon, segments with a comma. One pass without an object for each segment: a service has 100,000, and a saved source
 * waits for this.
 */
function ownMappings(mappings, isOwn) {
  // Generated column, source, its line, its column: each number of a segment is the difference from the one before. Base 64
  // digits of 5 bits, lowest first; 32 says that more follow, the lowest bit of a number is its sign.
  const read = [0, 0, 0, 0];
  const written = [0, 0, 0, 0];
  let result = '';
  let wasOwn = false;
  let begins = true;
  for (let at = 0; at < mappings.length; ) {
    let code = mappings.charCodeAt(at);
    if (code === COMMA || code === SEMICOLON) {
      at += 1;
      if (code === COMMA) continue;
      result += ';';
      read[0] = 0;
      written[0] = 0;
      begins = true;
      continue;
    }
    let fields = 0;
    for (; code !== COMMA && code !== SEMICOLON && at < mappings.length; fields += 1) {
      let number = 0;
      let shift = 0;
      let digit;
      do {
        digit = VALUES[code];
        number += (digit & 31) << shift;
        shift += 5;
        at += 1;
        code = mappings.charCodeAt(at);
      } while (digit & 32);
      if (fields < 4) read[fields] += number & 1 ? -(number >>> 1) : number >>> 1;
    }
    const own = fields > 1 && isOwn[read[1]];
    if (own || wasOwn) {
      if (!begins) result += ',';
      begins = false;
      for (let index = 0; index < (own ? 4 : 1); index += 1) {
        result += encode(read[index] - written[index]);
        written[index] = read[index];
      }
    }
    wasOwn = own;
  }
  return result;
}

function encode(number) {
  let rest = number < 0 ? (-number << 1) | 1 : number << 1;
  let digits = '';
  do {
    const digit = rest & 31;
    rest >>>= 5;
    digits += DIGITS[rest > 0 ? digit | 32 : digit];
  } while (rest > 0);
  return digits;
}
