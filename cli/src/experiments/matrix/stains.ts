import type { Violation } from '../../audit/invariant.ts';
import type { JournalRecord } from '../journal-records.ts';

/**
 * What a violated invariant says of a round: `new`, it was violated in it; `old`, an earlier round has left all of it in
 * the ledger; `unclear`, a sum was wrong before and is otherwise wrong now, which the round need not have done.
 */
export type Stain = 'new' | 'old' | 'unclear';

/** The ledger keeps what a round has spoilt, and every later audit finds it again. */
export class Stains {
  readonly #known = new Set<string>();

  /** Of each invariant that is violated, by its id; remembers what it finds. */
  sort(records: readonly JournalRecord[]): ReadonlyMap<string, Stain> {
    const audited = records.find((record) => record.type === 'audit');
    const violated = (audited?.invariants ?? []).filter(({ verdict }) => verdict === 'violated');
    return new Map(violated.map(({ id, violations }) => [id, this.#sortOne(id, violations)]));
  }

  #sortOne(id: string, violations: readonly Violation[]): Stain {
    const fresh = violations.filter((one) => !this.#known.has(keyOf(id, one)));
    const hadSum = this.#known.has(sumOf(id));
    for (const one of violations) {
      this.#known.add(keyOf(id, one));
      if (one.orderId === undefined) this.#known.add(sumOf(id));
    }
    // What took effect although the client was not told is listed and violates nothing.
    const wrong = fresh.filter(({ kind }) => kind !== 'recovered');
    if (wrong.length === 0) return 'old';
    return hadSum && wrong.every(({ orderId }) => orderId === undefined) ? 'unclear' : 'new';
  }
}

function keyOf(id: string, { orderId, kind, detail }: Violation): string {
  return JSON.stringify([id, orderId ?? null, kind, detail]);
}

function sumOf(id: string): string {
  return JSON.stringify([id, 'sum']);
}
