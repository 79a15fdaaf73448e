import { createHash } from 'node:crypto';

const BYTES = 6;

/**
 * A number in [0, 1) that depends on seed and label alone. Each thing that is drawn has a label, so that one more of them changes none
 * of the others.
 */
export function uniform(seed: string, label: string): number {
  const digest = createHash('sha256')
    .update(JSON.stringify([seed, label]))
    .digest();
  return digest.readUIntBE(0, BYTES) / 2 ** (8 * BYTES);
}
