/**
 * Differences from the last release that the comparer takes for breaks and that break no client: the service has
 * refused what its document left out. Each is named as the comparer says it, with the reason. The next release makes
 * them superfluous, and the test then asks for their removal.
 */
const TEXT = 'NUL was refused by the database (500)';
const SPELLING =
  'the same texts, in a spelling that other dialects of patterns read; lone surrogates are refused before';
const KEY = 'the handler has always refused another syntax with 400';

export const allowedBreaks: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  gateway: {
    'POST /api/orders body/customer: no longer takes values of another pattern than ^[^\\S\\x00-\\x1f\\x7f-\\x9f]*[^\\s\\x00-\\x1f\\x7f-\\x9f][^\\x00-\\x1f\\x7f-\\x9f]*$':
      SPELLING,
    'POST /api/orders Idempotency-Key: no longer takes values past minLength 1 (no limit)': KEY,
    'POST /api/orders Idempotency-Key: no longer takes values past maxLength 255 (no limit)': KEY,
    'POST /api/orders Idempotency-Key: no longer takes values of another pattern than ^[\\x21-\\x7e]+$': KEY,
  },
  orders: {
    'POST /orders body/customer: no longer takes values of another pattern than ^[^\\S\\x00-\\x1f\\x7f-\\x9f]*[^\\s\\x00-\\x1f\\x7f-\\x9f][^\\x00-\\x1f\\x7f-\\x9f]*$':
      SPELLING,
  },
  payments: {
    'POST /payments body/idempotencyKey: no longer takes values of another pattern than ^[^\\x00]*$': TEXT,
    'POST /payments/{orderId}/refund body/idempotencyKey: no longer takes values of another pattern than ^[^\\x00]*$':
      TEXT,
  },
};
