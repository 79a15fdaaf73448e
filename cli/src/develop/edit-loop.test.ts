// Goal: what was saved last runs, and nothing that does not compile or is refused disturbs what runs.
// Method: the loop over tools that record what they are asked.
import { expect, it } from 'vitest';
import { CliError } from '../errors.ts';
import type { EditEvent } from './edit-events.ts';
import { createEditLoop, type EditTools } from './edit-loop.ts';

function aLoop(changes: Partial<EditTools> = {}) {
  const events: EditEvent[] = [];
  const asked: string[] = [];
  const tools: EditTools = {
    targetsOf: (file) => (file.startsWith('kit/') ? ['catalog', 'orders'] : [file.split('/')[1] as string]),
    async rebuild(targets) {
      asked.push(`build ${targets.join(' ')}`);
      return targets.map((name) => ({ name, changed: [`dist/services/${name}.cjs`] }));
    },
    async apply() {
      asked.push('apply');
      return { started: ['orders-1'], applied: [] };
    },
    emit: (event) => void events.push(event),
    ...changes,
  };
  const loop = createEditLoop(tools);
  const save = async (...files: string[]) => {
    loop.saved(files);
    await loop.settled();
  };
  return { loop, save, events, asked, types: () => events.map(({ type }) => type) };
}

const nothing = async (names: readonly string[]) => names.map((name) => ({ name, changed: [] }));

it('builds what a saved source belongs to, and lets the platform take it', async () => {
  const { save, asked, events, types } = aLoop();
  await save('services/orders/src/routes.ts');
  expect(asked).toEqual(['build orders', 'apply']);
  expect(types()).toEqual(['saved', 'built', 'applied']);
  expect(events.at(-1)).toMatchObject({ started: ['orders-1'] });
});

it('asks nothing of the platform where a build comes out the same: a comment, or code without an importer', async () => {
  const { save, asked, types } = aLoop({
    rebuild: async (names) => names.map((name) => ({ name, changed: [`dist/services/${name}.cjs.map`] })),
  });
  await save('kit/src/pause.ts');
  expect(asked).toEqual([]);
  expect(types()).toEqual(['saved', 'built']);
});

it('keeps what runs where a source does not compile, and shows one error once with all that it concerns', async () => {
  const problem = 'X [ERROR] Expected ";" but found "x"';
  const { save, asked, events } = aLoop({
    rebuild: async (names) => names.map((name) => ({ name, changed: [], problem })),
  });
  await save('kit/src/pause.ts');
  expect(asked).toEqual([]);
  expect(events.at(-1)).toEqual({ type: 'build_failed', targets: ['catalog', 'orders'], problem });
});

it('lets the platform take a migration without a build', async () => {
  const { save, asked } = aLoop({
    targetsOf: () => [],
    apply: async () => ({ started: [], applied: ['migration orders/0009_new'] }),
  });
  await save('migrations/orders/0009_new.sql');
  expect(asked).toEqual([]);
});

it('reports what the platform refuses, and asks again at the next save, whatever that is', async () => {
  let isRefused = true;
  const { save, types } = aLoop({
    rebuild: nothing,
    async apply() {
      if (isRefused) throw new CliError({ code: 'change_refused', what: 'postgres refuses what changed' });
      return { started: ['orders-1'], applied: [] };
    },
  });
  await save('migrations/orders/0009_bad.sql');
  expect(types().at(-1)).toBe('refused');
  isRefused = false;
  await save('services/orders/src/routes.ts');
  expect(types().at(-1)).toBe('applied');
});

it('takes what is saved during a restart as one, afterwards', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const saves: (readonly string[])[] = [];
  const { loop, asked } = aLoop({
    emit: (event) => void (event.type === 'saved' && saves.push(event.files)),
    async apply() {
      await released;
      return { started: [], applied: [] };
    },
  });
  loop.saved(['services/orders/src/a.ts']);
  await expect.poll(() => asked).toEqual(['build orders']);
  loop.saved(['services/orders/src/b.ts']);
  loop.saved(['services/orders/src/a.ts', 'services/catalog/src/c.ts']);
  release();
  await loop.settled();
  expect(saves).toEqual([
    ['services/orders/src/a.ts'],
    ['services/catalog/src/c.ts', 'services/orders/src/a.ts', 'services/orders/src/b.ts'],
  ]);
});

it('begins with what was saved while the platform started, and then takes what was saved meanwhile', async () => {
  const { loop, asked, types } = aLoop();
  const begun = loop.begin(['catalog', 'orders']);
  loop.saved(['services/orders/src/routes.ts']);
  await begun;
  expect(asked.slice(0, 2)).toEqual(['build catalog orders', 'apply']);
  await loop.settled();
  expect(asked.slice(2)).toEqual(['build orders', 'apply']);
  expect(types()).toEqual(['built', 'applied', 'saved', 'built', 'applied']);
});

it('begins silently where nothing was saved while the platform started', async () => {
  const { loop, events } = aLoop({ rebuild: nothing, apply: async () => ({ started: [], applied: [] }) });
  await loop.begin(['catalog', 'orders']);
  expect(events).toEqual([]);
});

it('begins with a migration that was saved while the platform started', async () => {
  const applied = ['migration orders/0009_new'];
  const { loop, events } = aLoop({ rebuild: nothing, apply: async () => ({ started: [], applied }) });
  await loop.begin(['catalog', 'orders']);
  expect(events).toMatchObject([{ type: 'applied', applied }]);
});

it('builds nothing for a test', async () => {
  const { save, asked } = aLoop();
  await save('services/orders/src/routes.test.ts');
  expect(asked).toEqual([]);
});

it('shows errors of types beside it, once for as long as they stay the same, and never waits for them', async () => {
  const error = { file: 'services/orders/src/a.ts', line: 3, column: 7, code: 'TS2322', message: 'no' };
  const { save, events, asked } = aLoop({ checkTypes: async () => [error] });
  await save('services/orders/src/a.ts');
  await save('services/orders/src/a.ts');
  expect(events.filter(({ type }) => type === 'types')).toEqual([{ type: 'types', errors: [error] }]);
  expect(asked).toEqual(['build orders', 'apply', 'build orders', 'apply']);
});

it('ends with nothing in progress: no build, no check of types', async () => {
  let ended = 0;
  const { loop, asked } = aLoop({
    checkTypes: (signal) =>
      new Promise((_, reject) =>
        signal.addEventListener('abort', () => {
          ended += 1;
          reject(signal.reason);
        }),
      ),
  });
  await loop.end();
  loop.saved(['services/orders/src/a.ts']);
  await loop.settled();
  expect({ ended, asked }).toEqual({ ended: 1, asked: [] });
});
