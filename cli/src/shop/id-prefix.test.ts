import { describe, expect, it } from 'vitest';
import { parseIdPrefix, requireUnique } from './id-prefix.ts';

describe('a prefix of an id', () => {
  it('is the range of ids that begin so, with or without dashes', () => {
    const range = {
      lowest: '3f2b8a1c-5d00-0000-0000-000000000000',
      highest: '3f2b8a1c-5dff-ffff-ffff-ffffffffffff',
    };
    expect(parseIdPrefix('3F2B8A1C-5d', 'order')).toMatchObject(range);
    expect(parseIdPrefix('3f2b8a1c5d', 'order')).toMatchObject(range);
  });

  it('may be the whole id', () => {
    const id = '3f2b8a1c-5d4e-4f60-9a7b-8c9d0e1f2a3b';
    expect(parseIdPrefix(id, 'order')).toEqual({ text: id, lowest: id, highest: id });
  });

  it.each(['', '3f2b8', 'nothex', '3f2b-8a1c', "3f2b8a1c' OR 1=1", `${'3'.repeat(33)}`, '------'])(
    'is refused as bad usage: %j',
    (text) => {
      expect(() => parseIdPrefix(text, 'order')).toThrow(expect.objectContaining({ code: 'invalid_id' }));
    },
  );
});

describe('the ids found for a prefix', () => {
  const range = parseIdPrefix('3f2b8a', 'order');

  it('must not be none: exit code 1 and the way to list them', () => {
    const error = expect.objectContaining({
      code: 'order_not_found',
      next: expect.stringContaining('shopctl order list'),
    });
    expect(() => requireUnique([], range, 'order', 'shopctl order list')).toThrow(error);
  });

  it('must not be several: the candidates are named', () => {
    const error = expect.objectContaining({ code: 'ambiguous_id', why: expect.stringContaining('two') });
    expect(() => requireUnique(['one', 'two'], range, 'order', 'shopctl order list')).toThrow(error);
  });

  it('may be one', () => {
    expect(requireUnique(['one'], range, 'order', 'shopctl order list')).toBe('one');
  });
});
