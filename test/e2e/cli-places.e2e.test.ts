// Goal: the platform runs from clones in awkward places.
// Method: a copy of this clone (its node_modules is linked), moved as the case says; `up`, one order, `down`.
import { chmod } from 'node:fs/promises';
import { it } from 'vitest';
import { usePlaces } from './support/places.ts';

const isRoot = process.getuid?.() === 0;
const { folder, copyClone, works } = usePlaces();

it('works in a folder whose path holds spaces', async () => {
  await works({ root: await copyClone('a folder', 'with spaces') });
}, 120_000);

it('works where the path is longer than a socket path may be (108 bytes)', async () => {
  await works({ root: await copyClone('x'.repeat(60), 'y'.repeat(60)) });
}, 120_000);

it.skipIf(!isRoot)(
  'works for root in a folder that only root may enter (needs root)',
  async () => {
    const root = await copyClone('private');
    await chmod(folder(), 0o700);
    await works({ root });
  },
  120_000,
);
