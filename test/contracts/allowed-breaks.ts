/**
 * Differences from the last release that the comparer takes for breaks and that break nobody: the service has refused what
 * its document left out. Each is named as the comparer says it, with the reason. The next release makes them superfluous,
 * and the test then asks for their removal.
 */
const TEXT = 'NUL was refused by the database (500), and a lone surrogate became U+FFFD, equal to another key';
const KEY = 'the handler has always refused another syntax with 400';

export const allowedBreaks: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  gateway: {
    'POST /api/orders Idempotency-Key: no longer takes values past minLength 1 (no limit)': KEY,
    'POST /api/orders Idempotency-Key: no longer takes values past maxLength 255 (no limit)': KEY,
    'POST /api/orders Idempotency-Key: no longer takes values of another pattern than ^[\\x21-\\x7e]+$': KEY,
  },
  payments: {
    'POST /payments body/idempotencyKey: no longer takes values of another pattern than ^[^\\u0000\\uD800-\\uDFFF]*$':
      TEXT,
    'POST /payments/{orderId}/refund body/idempotencyKey: no longer takes values of another pattern than ^[^\\u0000\\uD800-\\uDFFF]*$':
      TEXT,
  },
};
