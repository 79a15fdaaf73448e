import { expect, it } from 'vitest';
import { cloneRoot } from '../../platform/project.ts';
import { readScenarios } from '../format/catalog.ts';
import { candidatesOf } from './draw.ts';
import { commitmentOf, seal } from './envelope.ts';
import { createPack, openPack, parsePack } from './pack.ts';

const scenarios = await readScenarios(cloneRoot());
const candidates = candidatesOf(scenarios, 3, { hasDeploy: true });
const envelope = seal(scenarios, { seed: '7', level: 3, candidates, build: 'x' });
const pack = await createPack(envelope, 'correct horse');

it('opens with its passphrase, and has the commitment of its round in the clear', async () => {
  expect(pack.commitment).toBe(commitmentOf(envelope));
  expect(await openPack(parsePack(JSON.stringify(pack), 'a.drill'), 'correct horse')).toEqual(envelope);
});

it('shows nothing else of its round', () => {
  const text = JSON.stringify(pack);
  const { fault, target } = (envelope.scenario.inject[0] ?? {}) as { fault?: string; target?: string };
  for (const word of [envelope.scenario.id, envelope.nonce, fault, target].filter((one) => one !== undefined)) {
    expect(text).not.toContain(word);
  }
});

it('differs each time', async () => {
  const again = await createPack(envelope, 'correct horse');
  expect([again.data === pack.data, again.key.salt === pack.key.salt]).toEqual([false, false]);
});

it.each([
  ['another passphrase', pack, 'correct house'],
  ['another commitment', { ...pack, commitment: '00' }, 'correct horse'],
  ['another level', { ...pack, level: 1 }, 'correct horse'],
  ['changed data', { ...pack, data: `AAAA${pack.data.slice(4)}` }, 'correct horse'],
])('does not open with %s', async (_, changed, passphrase) => {
  await expect(openPack(changed, passphrase)).rejects.toMatchObject({ code: 'pack_not_opened', exitCode: 2 });
});

it.each([
  '',
  '{}',
  'null',
  JSON.stringify({ ...pack, version: 'v0' }),
  JSON.stringify({ ...pack, key: { ...pack.key, N: 2 } }),
])('is not read from %.30s', (text) => {
  expect(() => parsePack(text, 'a.drill')).toThrow(/a\.drill is not a sealed round/);
});
