import { describe, expect, it } from 'vitest';
import { cloneRoot } from '../platform/project.ts';
import { chooseFaults, parseFault } from './faults.ts';

describe('--chaos', () => {
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
  ])('"%s" is a fault', (word, expected) => {
    expect(parseFault(word)).toEqual(expected);
  });

  it.each([':down', 'a:b:c', 'orders-broker:', 'orders-broker:down,latency', 'orders-broker:down,latency=1=2'])(
    'refuses "%s"',
    (word) => {
      expect(() => parseFault(word)).toThrow(expect.objectContaining({ exitCode: 2 }));
    },
  );

  it('names the nearest fault', () => {
    expect(() => parseFault('orders-broker:dwon')).toThrow(
      expect.objectContaining({ what: expect.stringContaining('"down"') }),
    );
  });

  it('takes the faults of an experiment, and nothing else of it', async () => {
    expect(await chooseFaults(['E01'], cloneRoot())).toEqual([
      { target: 'orders-broker', fault: 'down', parameters: {} },
      { target: 'shipping-broker', fault: 'down', parameters: {} },
    ]);
  });

  it('refuses an experiment without a fault, and one that does not exist', async () => {
    await expect(chooseFaults(['E11'], cloneRoot())).rejects.toMatchObject({
      exitCode: 2,
      what: 'E11 has no fault that could act on a load',
    });
    await expect(chooseFaults(['E999'], cloneRoot())).rejects.toMatchObject({ exitCode: 2 });
  });
});
