/**
 * A number from 0 up to 1 that depends on nothing but the seed and the names. The n-th order of a phase asks for the
 * same in every run, whichever virtual user sends it. FNV-1a over the text, finished as in MurmurHash3 (A. Appleby,
 * fmix32).
 */
export function fraction(seed: number, ...names: readonly (string | number)[]): number {
  let hash = 0x811c9dc5;
  for (const character of [seed, ...names].join(' ')) {
    hash = Math.imul(hash ^ (character.codePointAt(0) as number), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** One of these, by a fraction from 0 up to 1. */
export function pick<T>(choices: readonly T[], share: number): T {
  return choices[Math.floor(share * choices.length)] as T;
}
