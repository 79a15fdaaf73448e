import { describe, expect, it } from 'vitest';
import type { Logger } from './logger.ts';
import { parseSeededBugs, warnOfSeededBugs } from './seeded-bugs.ts';

const enabled = { FAILPOINT_DIR: '/failpoints' };

describe('SHOP_SEEDED_BUGS', () => {
  it('seeds nothing when it is not set', () => {
    expect(parseSeededBugs('orders', enabled)).toEqual(new Set());
  });

  it('names bugs of its service', () => {
    const bugs = parseSeededBugs('orders', { ...enabled, SHOP_SEEDED_BUGS: 'retry-declined,breaker-counts-402' });
    expect(bugs).toEqual(new Set(['retry-declined', 'breaker-counts-402']));
  });

  it.each(['no-inbox', 'no-such-bug', '', 'constructor'])('"%s" is refused by orders', (name) => {
    expect(() => parseSeededBugs('orders', { ...enabled, SHOP_SEEDED_BUGS: name })).toThrow('orders has no bug');
  });

  it('is built in after "built-in:", which needs no failpoints and logs nothing', () => {
    const text = 'built-in:breaker-counts-402';
    const bugs = parseSeededBugs('orders', { SHOP_SEEDED_BUGS: text });
    expect(bugs).toEqual(new Set(['breaker-counts-402']));
    const warned: unknown[] = [];
    const logger = { warn: (fields: unknown) => void warned.push(fields) } as unknown as Logger;
    warnOfSeededBugs(bugs, text, logger);
    expect(warned).toEqual([]);
    warnOfSeededBugs(bugs, 'breaker-counts-402', logger);
    expect(warned).toHaveLength(1);
  });

  it('is refused where failpoints are not enabled', () => {
    expect(() => parseSeededBugs('shipping', { SHOP_SEEDED_BUGS: 'no-inbox' })).toThrow(
      'SHOP_SEEDED_BUGS needs FAILPOINT_DIR',
    );
  });
});
