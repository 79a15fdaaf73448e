import { expect, it } from 'vitest';
import { parseInspect, parseProviders, parseSources } from './option-values.ts';

it('setup takes the programs that commands use, too; up does not', () => {
  expect(parseSources('k6=release', { toxiproxy: 'go' })).toEqual({ toxiproxy: 'go', k6: 'release' });
  expect(() => parseProviders('k6=release')).toThrow(
    'components are postgres, rabbitmq, toxiproxy, jaeger, prometheus',
  );
});

it.each([
  ['k7=release', 'components are postgres, rabbitmq, toxiproxy, jaeger, prometheus, k6'],
  ['k6=download', 'kinds of k6 are installed, cache, docker, release, go'],
  ['postgres=go', 'kinds of postgres are url, installed, embedded, docker'],
  ['toString=url', 'components are postgres, rabbitmq, toxiproxy, jaeger, prometheus, k6'],
  ['k6', 'expected something like k6=release'],
])('%s is refused: %s', (text, message) => {
  expect(() => parseSources(text)).toThrow(message);
});

it('inspectors are asked for by service, with a port or without, together and one after the other', () => {
  expect(parseInspect('stock', parseInspect('orders=9300,payments'))).toEqual({
    orders: 9300,
    payments: null,
    stock: null,
  });
});

it.each([
  ['', 'expected a service'],
  ['=9229', 'expected a service'],
  ['orders=1=2', 'expected a service'],
  ['orders=', 'expected a port from 1 to 65527'],
  ['orders=65530', 'expected a port from 1 to 65527'],
  ['orders=0.0.0.0:9229', 'expected a port from 1 to 65527'],
])('--inspect %s is refused: %s', (text, message) => {
  expect(() => parseInspect(text)).toThrow(message);
});
