import type { Track } from './release.ts';

/**
 * The track that a key belongs to, of those with a weight above 0: the same in every process and at every time while the
 * weights stay. Weighted rendezvous hashing: each track's share of the keys is its weight divided by the sum. A weight that
 * rises draws keys to its track and moves no other one, so that an order stays in the canary while the canary grows. Source:
 * C. Schindelhauer, G. Schomaker, "Weighted Distributed Hash Tables", SPAA 2005 (the logarithmic method).
 */
export function trackOfKey(key: string, weights: Iterable<readonly [Track, number]>): Track | undefined {
  const hash = hashOf(key);
  let nearest: Track | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const [track, weight] of weights) {
    const distance = -Math.log(uniform(hash ^ hashOf(track))) / weight;
    if (distance >= least) continue;
    least = distance;
    nearest = track;
  }
  return nearest;
}

/** FNV-1a of 32 bits over the code units. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash;
}

/** Above 0 and below 1. The bits are mixed by the finalizer of MurmurHash3: similar keys have similar FNV hashes. */
function uniform(bits: number): number {
  let mixed = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32 + 2 ** -33;
}
