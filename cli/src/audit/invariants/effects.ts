import { formatMoney } from '../../shop/money.ts';
import type { EffectFact, PaymentFact } from '../facts.ts';
import { type Finding, NO_FINDINGS, violated } from '../invariant.ts';

/** The effects a payment in this state has had, in their order; none in any other state. */
const EFFECTS_OF: Readonly<Record<string, readonly ('charge' | 'refund')[]>> = {
  accepted: ['charge'],
  refunded: ['charge', 'refund'],
};

const PAST = { charge: 'charged', refund: 'refunded' } as const;

/**
 * Half of I4: a payment that was accepted was charged exactly once, and one that was refunded was also refunded exactly
 * once. Any other has no effect; each effect is of the payment's sum. Payment and effects are of one snapshot and one
 * statement.
 */
export function checkEffects(payment: PaymentFact | undefined, effects: readonly EffectFact[]): Finding {
  const state = payment?.state ?? 'missing';
  const expected = EFFECTS_OF[state] ?? [];
  for (const kind of ['charge', 'refund'] as const) {
    const made = effects.filter((effect) => effect.kind === kind).length;
    const due = expected.includes(kind) ? 1 : 0;
    if (made > 1) return violated('duplicated', `${PAST[kind]} ${made} times, its payment is ${state}`);
    if (made > due) return violated('unexpected', `${PAST[kind]}, but its payment is ${state}`);
    if (made < due) return violated('lost', `its payment is ${state}, but nothing was ${PAST[kind]}`);
  }
  if (effects.some(({ kind }, index) => kind !== expected[index]))
    return violated('wrong', 'refunded before it was charged');
  const other = effects.find(
    (one) => one.amountKopiykas !== payment?.amountKopiykas || one.currency !== payment.currency,
  );
  if (payment === undefined || other === undefined) return NO_FINDINGS;
  const [done, noted] = [other, payment].map(({ amountKopiykas = 0, currency = '' }) =>
    formatMoney(amountKopiykas, currency),
  );
  return violated('wrong', `a ${other.kind} of ${done}, its payment says ${noted}`);
}
