// Goal: the platform runs from clones in awkward places.
// Method: a copy of this clone (its node_modules is linked) in a place that is awkward in each of the ways; `up`, one order, `down`.
import { chmod } from 'node:fs/promises';
import { it } from 'vitest';
import { usePlaces } from './support/places.ts';

/** A user other than root enters any folder of mode 700 that is there. */
const isRoot = process.getuid?.() === 0;
if (!isRoot) console.warn('skipped: a folder that root alone may enter (needs root)');
const { folder, copyClone, works } = usePlaces();

it(`works where the path holds spaces, is longer than a socket path may be (108 bytes)${isRoot ? ', and is open to root alone' : ''}`, async () => {
  const root = await copyClone('a folder with spaces', 'x'.repeat(60), 'y'.repeat(60));
  if (isRoot) await chmod(folder(), 0o700);
  await works({ root });
}, 120_000);
