import { describe, expect, it } from 'vitest';
import { countsText, shareText } from './words.ts';

describe('the share of expected responses', () => {
  it.each([
    [{ sent: 4, expected: 4 }, '100 %'],
    [{ sent: 3, expected: 2 }, '66.67 %'],
    // All but one of many is not all.
    [{ sent: 100_000, expected: 99_999 }, '100.00 %'],
    [{ sent: 0, expected: 0 }, undefined],
  ])('of %j is %s', (measured, text) => {
    expect(shareText(measured)).toBe(text);
  });
});

it('counts are listed with their thousands', () => {
  expect(countsText({ Confirmed: 1_204, 'Cancelled: out of stock': 1 })).toBe(
    '1,204 Confirmed, 1 Cancelled: out of stock',
  );
  expect(countsText({})).toBe('');
});
