import { isDeepStrictEqual } from 'node:util';
import type { ShadowOutcome, ShippedRows } from '@shop/kit/shadow.ts';

/** How what a release would have done with a message compares with what was done. */
export type Comparison =
  | { readonly kind: 'same' }
  | { readonly kind: 'different'; readonly what: string }
  /** There is nothing to compare with. */
  | { readonly kind: 'unknown'; readonly why: string };

const TABLES = ['inbox', 'shipments', 'parcels'] as const satisfies readonly (keyof ShippedRows)[];
const MOST_TEXT = 200;

/** `served`: the rows of the message and its order; undefined where the inbox has no such message. Pure. */
export function compareOutcome(outcome: ShadowOutcome, served: ShippedRows | undefined): Comparison {
  const { messageId, settlement, written } = outcome;
  if (messageId === null) return { kind: 'unknown', why: 'a message names no id' };
  if (served === undefined || settlement === 'unreceived')
    return { kind: 'unknown', why: `the message ${messageId} has not been processed by what serves` };
  if (settlement !== 'ack')
    return { kind: 'different', what: `the message ${messageId} would end in ${settlement}, and was processed` };
  if (written === undefined)
    return { kind: 'different', what: `nothing would be written for the message ${messageId}` };
  const table = TABLES.find((one) => !isDeepStrictEqual(written[one], served[one]));
  if (table === undefined) return { kind: 'same' };
  const what = `the message ${messageId} would write ${shortened(written[table])} into ${table}`;
  return { kind: 'different', what: `${what}, and wrote ${shortened(served[table])}` };
}

function shortened(rows: readonly unknown[]): string {
  const text = JSON.stringify(rows);
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}...` : text;
}
