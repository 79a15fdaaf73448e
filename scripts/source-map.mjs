const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/**
 * A source map (as JSON text) that keeps our sources only. Node holds a whole map in memory from the first error on, and nine
 * tenths of a service's are of libraries. Their frames name the bundle, as without a map.
 */
export function ownSourceMap(text) {
  const map = JSON.parse(text);
  const isOwn = map.sources.map((source) => !source.includes('node_modules/'));
  return JSON.stringify({ ...map, mappings: ownMappings(map.mappings, isOwn) });
}

/** Segments of other sources become one without a source, which ends what is before it. Format: ECMA-426. */
function ownMappings(mappings, isOwn) {
  // Generated column, source, its line, its column: each number of a segment is the difference from the one before.
  const read = [0, 0, 0, 0];
  const written = [0, 0, 0, 0];
  let wasOwn = false;
  const segmentOf = (count) => {
    const digits = Array.from({ length: count }, (_, index) => encode(read[index] - written[index])).join('');
    for (let index = 0; index < count; index++) written[index] = read[index];
    return digits;
  };
  const lines = mappings.split(';').map((line) => {
    read[0] = 0;
    written[0] = 0;
    const segments = [];
    for (const segment of line === '' ? [] : line.split(',')) {
      const differences = decode(segment);
      for (let index = 0; index < Math.min(4, differences.length); index++) read[index] += differences[index];
      const own = differences.length > 1 && isOwn[read[1]];
      if (own || wasOwn) segments.push(segmentOf(own ? 4 : 1));
      wasOwn = own;
    }
    return segments.join(',');
  });
  return lines.join(';');
}

/** Base 64 digits of 5 bits, lowest first; 32 says that more follow, the lowest bit of a number is its sign. */
function decode(segment) {
  const numbers = [];
  let number = 0;
  let shift = 0;
  for (const character of segment) {
    const digit = DIGITS.indexOf(character);
    number += (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    numbers.push(number & 1 ? -(number >>> 1) : number >>> 1);
    number = 0;
    shift = 0;
  }
  return numbers;
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
