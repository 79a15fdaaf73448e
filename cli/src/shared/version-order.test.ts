import { expect, it } from 'vitest';
import { isOlder, isVersion } from './version-order.ts';

it.each([
  ['0.2.0', '0.3.0'],
  ['0.9.0', '0.10.0'],
  ['0.3.0', '0.3.1'],
  ['0.3.9', '1.0.0'],
  ['1.0.0-rc.1', '1.0.0'],
  ['0.0.0-source', '0.0.1'],
])('%s is older than %s, and not the other way', (older, newer) => {
  expect(isOlder(older, newer)).toBe(true);
  expect(isOlder(newer, older)).toBe(false);
});

it.each([
  ['0.3.0', '0.3.0'],
  ['0.3.0+3f2a9c1b', '0.3.0'],
  ['1.0.0-rc.1', '1.0.0-rc.2'],
])('%s is as old as %s', (one, other) => {
  expect(isOlder(one, other)).toBe(false);
  expect(isOlder(other, one)).toBe(false);
});

it.each(['0.3', 'v0.3.0', '0.3.0 ', '', 'latest'])('"%s" is not a version', (text) => {
  expect(isVersion(text)).toBe(false);
  expect(() => isOlder(text, '0.1.0')).toThrow(`"${text}" is not a version`);
});
