import { describe, expect, it } from 'vitest';
import { parseFault } from './written-fault.ts';

describe('a fault in one word', () => {
  it.each([
    ['orders-broker:down', { target: 'orders-broker', fault: 'down', parameters: {} }],
    [
      'orders-payments:latency,latency=400ms,jitter=50ms,toxicity=0.5',
      {
        target: 'orders-payments',
        fault: 'latency',
        parameters: { latency: '400ms', jitter: '50ms', toxicity: 0.5 },
      },
    ],
    ['orders-stock:slow-close,delay=1s', { target: 'orders-stock', fault: 'slow_close', parameters: { delay: '1s' } }],
  ])('"%s" is one', (word, expected) => {
    expect(parseFault(word)).toEqual(expected);
  });

  it.each([':down', 'a:b:c', 'orders-broker:', 'orders-broker:down,latency', 'orders-broker:down,latency=1=2'])(
    'refuses "%s"',
    (word) => {
      expect(() => parseFault(word)).toThrow(expect.objectContaining({ code: 'invalid_fault' }));
    },
  );

  it('names the nearest fault', () => {
    expect(() => parseFault('orders-broker:dwon')).toThrow(
      expect.objectContaining({ what: expect.stringContaining('"down"') }),
    );
  });
});
