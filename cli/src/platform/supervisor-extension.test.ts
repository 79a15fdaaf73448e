import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import type { ActiveFault } from './state.ts';
import { combineExtensions, type SupervisorExtension } from './supervisor-extension.ts';

const log: string[] = [];

function anExtension(name: string, { route = '', fails = false } = {}): SupervisorExtension {
  return {
    async handle(asked) {
      log.push(`${name} is asked`);
      return asked === route;
    },
    activeFaults: () => [{ id: name } as ActiveFault],
    async end() {
      log.push(`${name} ends`);
      if (fails) throw new Error(`${name} is stuck`);
    },
  };
}

it('asks extensions in turn until one has the route', async () => {
  const both = combineExtensions([anExtension('one', { route: 'GET /one' }), anExtension('two')]);
  const ask = (route: string) => both.handle(route, {} as IncomingMessage, {} as ServerResponse);
  log.length = 0;
  expect(await ask('GET /one')).toBe(true);
  expect(log).toEqual(['one is asked']);
  expect(await ask('GET /none')).toBe(false);
  expect(both.activeFaults().map(({ id }) => id)).toEqual(['one', 'two']);
});

it('has the drill of the one that has one', () => {
  const drill = { id: '1', startedAt: '2026-01-01T00:00:00.000Z', limitMs: 1 };
  const drills = { ...anExtension('two'), activeDrill: () => drill };
  expect(combineExtensions([anExtension('one'), drills]).activeDrill?.()).toEqual(drill);
  expect(combineExtensions([anExtension('one')]).activeDrill?.()).toBeUndefined();
});

it('ends every extension, the last one first, and reports what failed', async () => {
  const both = combineExtensions([anExtension('one'), anExtension('two', { fails: true })]);
  log.length = 0;
  await expect(both.end()).rejects.toThrow('two is stuck');
  expect(log).toEqual(['two ends', 'one ends']);
});
