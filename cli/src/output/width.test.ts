import cliTruncate from 'cli-truncate';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fit } from '../watch/views/text.ts';
import { formatTable } from './table.ts';
import { cutText, padText, widthOf } from './width.ts';
import { wrapText } from './wrap.ts';

/*
 * Goal: columns stay straight whatever a customer or product is called.
 * Method: texts with wide, combining and coloured characters beside plain ones; the columns that a terminal shows are counted.
 */

const red = (text: string) => `\u001b[31m${text}\u001b[39m`;

describe('width on a terminal', () => {
  it.each([
    ['abc', 3],
    ['日本', 4],
    ['e\u0301', 1],
    ['👩‍🔬', 2],
    [red('abc'), 3],
    ['', 0],
  ])('of %j is %i', (text, width) => expect(widthOf(text)).toBe(width));

  it('is what a table aligns its columns by', () => {
    const table = formatTable(
      ['NAME', 'N'],
      [
        ['日本', '1'],
        [red('abc'), '2'],
        ['abcdef', '3'],
      ],
    );
    expect(table.split('\n')).toEqual(['NAME    N', '日本    1', `${red('abc')}     2`, 'abcdef  3']);
  });

  it('is what text is cut to, never in the middle of a character', () => {
    expect(cutText('日本語', 6)).toBe('日本語');
    expect(widthOf(cutText('日本語', 5))).toBeLessThanOrEqual(5);
    expect(cutText('日本語', 5)).toBe('日本…');
    expect(cutText('abcdef', 4)).toBe('abc…');
    expect(cutText('abcdef', 0)).toBe('…');
  });

  it('cuts plain text as the library for all others does', () => {
    const plain = fc.string({ unit: fc.constantFrom(...'ab cd  ~!') });
    fc.assert(
      fc.property(plain, fc.integer({ min: 1, max: 12 }), (text, columns) => {
        expect(cutText(text, columns)).toBe(cliTruncate(text, columns));
      }),
    );
  });

  it('is what text is padded to, at the side that is asked for', () => {
    expect(padText('日本', 6)).toBe('日本  ');
    expect(padText('日本', -6)).toBe('  日本');
    expect(padText('abcdef', 3)).toBe('abcdef');
  });

  it('is what a cell of the watch screen has, exactly', () => {
    for (const text of ['abc', '日本', '日本語日本語', 'abcdefghij']) expect(widthOf(fit(text, 6))).toBe(6);
    expect(fit('日本', -6)).toBe('  日本');
  });

  it('is what lines are broken by', () => {
    expect(wrapText('日本 日本 ab', 9)).toBe('日本 日本\nab');
    expect(wrapText(`${red('abc')} abc`, 7)).toBe(`${red('abc')} abc`);
  });
});
