import { expect, it } from 'vitest';
import { prometheusProgram } from './sources.ts';
import { isNewEnough, versionIn } from './version.ts';

it.each([
  ['prometheus, version 2.42.0+ds (branch: debian/sid, revision: 2.42.0+ds-5)\n  go version: go1.19.8', '2.42.0'],
  ['promtool, version 3.13.1 (branch: HEAD, revision: abc)', '3.13.1'],
  ['prometheus, version  (branch: , revision: unknown)', undefined],
  ['node_exporter, version 1.5.0', undefined],
])('%s: %s', (text, version) => {
  expect(versionIn(text)).toBe(version);
});

it.each([
  ['2.41.9', false],
  ['2.42.0', true],
  ['2.100.0', true],
  ['3.0.0', true],
  ['1.99.0', false],
])('%s is new enough: %s', (version, expected) => {
  expect(isNewEnough(version)).toBe(expected);
});

it('what Go builds is the version that is downloaded', () => {
  expect(prometheusProgram.go.version).toBe('v0.313.1');
});
