import { expect, it } from 'vitest';
import { suggestName } from './suggest-name.ts';

it.each([
  ['ordes', 'orders'],
  ['catlog', 'catalog'],
  ['gatway', 'gateway'],
  ['kubernetes', undefined],
])('suggests for %s: %s', (typed, suggested) => {
  expect(suggestName(typed, ['postgres', 'rabbitmq', 'catalog', 'orders', 'gateway'])).toBe(suggested);
});
