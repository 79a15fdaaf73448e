import { createHash } from 'node:crypto';
import { canonicalJson } from '../seal/canonical.ts';
import type { DrillEvent, DrillRecord } from './records.ts';

/** What the first record continues. */
const BEGINNING = '0'.repeat(64);

interface Link {
  readonly seq: number;
  readonly hash: string;
}

/** The record that continues a chain. Pure. */
export function chained(
  event: DrillEvent,
  { ms, at }: { readonly ms: number; readonly at: string },
  last: Link | undefined,
): DrillRecord {
  const record = { seq: (last?.seq ?? 0) + 1, ms, at, ...event };
  return { ...record, hash: hashOf(record, last) };
}

/** The first record that does not continue the one before, or undefined. Any change, loss or exchange of lines is one. Pure. */
export function brokenLink(
  records: readonly DrillRecord[],
): { readonly seq: number; readonly why: string } | undefined {
  for (const [index, record] of records.entries()) {
    const { hash, ...rest } = record;
    if (record.seq !== index + 1) return { seq: index + 1, why: `record ${index + 1} has the number ${record.seq}` };
    if (hash !== hashOf(rest, records[index - 1])) {
      return { seq: record.seq, why: `record ${record.seq} (${record.type}) does not continue the one before it` };
    }
  }
  return undefined;
}

function hashOf(record: object, last: Link | undefined): string {
  return createHash('sha256')
    .update(last?.hash ?? BEGINNING)
    .update(canonicalJson(record))
    .digest('hex');
}
