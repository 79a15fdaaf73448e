import { describe, expect, it } from 'vitest';
import { withoutValues } from './statement-shape.ts';

describe('a statement without its values', () => {
  it.each([
    [`SELECT * FROM orders WHERE customer = 'Ann O''Hara' AND total > 12.5e3`],
    [String.raw`UPDATE orders SET customer = E'it\'s Ann' WHERE id = 7`],
    [`SELECT $$Ann$$, $tag$Ann $$ still$tag$, U&'Ann', X'1FF', 1_000`],
    [`INSERT INTO orders VALUES ('Ann cut off by the server`],
    [`INSERT INTO orders VALUES ($$Ann cut off`],
    [`SELECT 1 -- for Ann\n/* trace of Ann */ FROM orders /* Ann`],
  ])('%j keeps none', (statement) => {
    const shape = withoutValues(statement);
    expect(shape).not.toMatch(/Ann|12|7|1FF|1_000/);
    expect(shape).toMatch(/^(SELECT|UPDATE|INSERT)/);
  });

  it('keeps words, quoted names with digits, and parameters, in one line', () => {
    const statement = `SELECT "OrderId2",\n  t1.c$2\nFROM "Shipments" t1\nWHERE id = $12 AND n = 3`;
    expect(withoutValues(statement)).toBe('SELECT "OrderId2", t1.c$2 FROM "Shipments" t1 WHERE id = $12 AND n = ?');
  });
});
