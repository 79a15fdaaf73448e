import { describe, expect, it } from 'vitest';
import { parsePlants } from './plants.ts';

const enabled = { FAILPOINT_DIR: '/failpoints' };

describe('SHOP_PLANT', () => {
  it('plants nothing when it is not set', () => {
    expect(parsePlants('orders', enabled)).toEqual(new Set());
  });

  it('names bugs of its service', () => {
    const plants = parsePlants('orders', { ...enabled, SHOP_PLANT: 'retry-declined,breaker-counts-402' });
    expect(plants).toEqual(new Set(['retry-declined', 'breaker-counts-402']));
  });

  it.each(['no-inbox', 'no-such-bug', '', 'constructor'])('"%s" is refused by orders', (name) => {
    expect(() => parsePlants('orders', { ...enabled, SHOP_PLANT: name })).toThrow('orders has no bug');
  });

  it('is refused where failpoints are not enabled', () => {
    expect(() => parsePlants('shipping', { SHOP_PLANT: 'no-inbox' })).toThrow('SHOP_PLANT needs FAILPOINT_DIR');
  });
});
