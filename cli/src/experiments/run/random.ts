import { createHash } from 'node:crypto';
import { mulberry32 } from '@shop/kit/mulberry32.ts';

/** Numbers in [0, 1) that depend on the text only. The seed is a hash of it, so that similar texts differ. */
export function createRandom(seed: string): () => number {
  return mulberry32(createHash('sha256').update(seed).digest().readUInt32LE(0));
}
