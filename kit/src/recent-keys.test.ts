import { expect, it } from 'vitest';
import { rememberKeys } from './recent-keys.ts';

it('a key is the first one once', () => {
  const keys = rememberKeys(10);
  expect(['a', 'b', 'a', 'a', 'b'].map(keys.isFirst)).toEqual([true, true, false, false, false]);
});

it('a key is forgotten after one to two times as many others', () => {
  const keys = rememberKeys(2);
  expect(['a', 'b', 'c', 'a', 'd', 'e', 'a'].map(keys.isFirst)).toEqual([true, true, true, false, true, true, true]);
});
