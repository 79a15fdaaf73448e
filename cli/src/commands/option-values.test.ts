import { expect, it } from 'vitest';
import { parseProviders, parseSources } from './option-values.ts';

it('setup takes the programs that commands use, too; up does not', () => {
  expect(parseSources('k6=release', { toxiproxy: 'go' })).toEqual({ toxiproxy: 'go', k6: 'release' });
  expect(() => parseProviders('k6=release')).toThrow('components are postgres, rabbitmq, toxiproxy, jaeger');
});

it.each([
  ['k7=release', 'components are postgres, rabbitmq, toxiproxy, jaeger, k6'],
  ['k6=download', 'kinds of k6 are installed, cache, docker, release, go'],
  ['postgres=go', 'kinds of postgres are url, installed, embedded, docker'],
  ['toString=url', 'components are postgres, rabbitmq, toxiproxy, jaeger, k6'],
  ['k6', 'expected something like k6=release'],
])('%s is refused: %s', (text, message) => {
  expect(() => parseSources(text)).toThrow(message);
});
