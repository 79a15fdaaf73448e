import { describe, expect, it } from 'vitest';
import { keysOf } from './keys-of.ts';

describe('what was pressed', () => {
  it('is a named key, or a character', () => {
    expect(keysOf('', { upArrow: true })).toEqual(['up']);
    expect(keysOf('o', {})).toEqual([{ character: 'o' }]);
  });

  it('is every key of what came together, Enter and corrections among them', () => {
    expect(keysOf('dx\x7fo\r', {})).toEqual([
      { character: 'd' },
      { character: 'x' },
      'backspace',
      { character: 'o' },
      'enter',
    ]);
  });

  it('is nothing where a key is held with Ctrl or Alt, or is one that means nothing here', () => {
    expect([keysOf('o', { ctrl: true }), keysOf('o', { meta: true }), keysOf('\x00', {})]).toEqual([[], [], []]);
  });
});
