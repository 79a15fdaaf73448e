import { messageOf } from '../../../errors.ts';
import type { SqlProbe } from '../../format/schema.ts';
import type { RunContext } from '../run-context.ts';
import { type StepResult, unknown } from '../step-result.ts';
import { describeTolerance, isWithin, type Value } from '../tolerance.ts';

/** Probes the first row's only column, or the number of rows. No response, no row or NULL is unknown. */
export async function probeSql({ provider, tolerance }: SqlProbe, { platform }: RunContext): Promise<StepResult> {
  const { database, query, values = [] } = provider;
  const countsRows = typeof tolerance === 'object' && tolerance !== null && 'rows' in tolerance;
  const bound = countsRows ? tolerance.rows : tolerance;
  const expected = `${describeTolerance(bound)}${countsRows ? ' rows' : ''}`;
  let rows: Record<string, unknown>[];
  try {
    rows = await platform.databases.query(database, query, values);
  } catch (error) {
    return unknown(messageOf(error), { expected });
  }
  if (countsRows) return checked(rows.length, bound, expected, ' rows');
  const columns = Object.values(rows[0] ?? {});
  if (columns.length !== 1)
    return unknown(rows.length === 0 ? 'no row' : `${columns.length} columns instead of 1`, { expected });
  const value = asValue(columns[0]);
  if (value === null && bound !== null) return unknown('NULL', { expected });
  return checked(value, bound, expected, '');
}

function checked(value: Value, bound: SqlProbe['tolerance'], expected: string, unit: string): StepResult {
  const isHeld = isWithin(value, bound as Parameters<typeof isWithin>[1]);
  return { verdict: isHeld ? 'pass' : 'fail', expected, observed: `${String(value)}${unit}` };
}

/** PostgreSQL gives `bigint` and `numeric` as text. */
function asValue(value: unknown): Value {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
  const text = value instanceof Date ? value.toISOString() : String(value);
  return /^-?\d+(\.\d+)?$/.test(text) && Number.isSafeInteger(Math.trunc(Number(text))) ? Number(text) : text;
}
