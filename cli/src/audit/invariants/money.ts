import { formatCount } from '../../output/units.ts';
import { formatMoney } from '../../shop/money.ts';
import { PAYMENT_LIMIT_KOPIYKAS } from '../../shop/payment-limit.ts';
import type { OrderFact, PaymentFact } from '../facts.ts';
import { type Finding, NO_FINDINGS, type OrderInvariant, violated } from '../invariant.ts';
import { checkEffects } from './effects.ts';

/** Sums are of one currency: payments knows no other. */
const money = (kopiykas: number) => formatMoney(kopiykas, 'UAH');

/** States of the payment of an order that was not paid in the end. */
const ENDS_WITHOUT_MONEY: ReadonlySet<string> = new Set(['declined', 'refunded', 'voided']);

/**
 * I4: a Confirmed order was charged once, its exact total; every other one was charged nothing in the end. What was done to the
 * customer's money, counted where no unique key hides a second effect, is what the payment says.
 */
export const moneyMatches: OrderInvariant = {
  id: 'I4',
  title: 'money charged equals orders confirmed',
  needs: ['orders', 'payments'],
  compares: ['payments', 'effects'],
  start() {
    const tally = { confirmed: 0, owedKopiykas: 0, charges: 0, chargedKopiykas: 0, effects: 0 };
    return {
      add({ order, payments, effects }) {
        tally.effects += effects.length;
        const charges = payments.filter(({ state }) => state === 'accepted');
        tally.charges += charges.length;
        tally.chargedKopiykas += charges.reduce((sum, { amountKopiykas }) => sum + (amountKopiykas ?? 0), 0);
        if (order?.status === 'Confirmed') {
          tally.confirmed++;
          tally.owedKopiykas += order.totalKopiykas;
        }
        const finding = order === undefined ? checkStray(payments) : checkOrder(order, payments, charges);
        return finding === NO_FINDINGS ? checkEffects(payments[0], effects) : finding;
      },
      evidence: () =>
        `${formatCount(tally.confirmed)} Confirmed for ${money(tally.owedKopiykas)}, ${formatCount(tally.charges)} charges of ${money(tally.chargedKopiykas)}, ${formatCount(tally.effects)} charges and refunds made`,
    };
  },
};

function checkStray(payments: readonly PaymentFact[]): Finding {
  const [payment] = payments;
  return payment === undefined ? NO_FINDINGS : violated('unexpected', `a payment (${payment.state}) without an order`);
}

function checkOrder(order: OrderFact, payments: readonly PaymentFact[], charges: readonly PaymentFact[]): Finding {
  const sum = order.lines.reduce((total, { priceKopiykas, quantity }) => total + priceKopiykas * quantity, 0);
  if (sum !== order.totalKopiykas) {
    return violated('wrong', `total is ${money(order.totalKopiykas)}, its lines sum to ${money(sum)}`);
  }
  if (payments.length > 1) return violated('duplicated', `${payments.length} payments`);
  if (order.status === 'Confirmed') return checkConfirmed(order, payments[0], charges[0]);
  // An open saga is still charging or refunding: its end is the business of I1.
  if (order.open) return NO_FINDINGS;
  return checkCancelled(order, payments[0]);
}

function checkConfirmed(order: OrderFact, payment: PaymentFact | undefined, charge: PaymentFact | undefined): Finding {
  if (charge === undefined) return violated('lost', `Confirmed, but its payment is ${payment?.state ?? 'missing'}`);
  if (charge.amountKopiykas !== order.totalKopiykas || charge.currency !== order.currency) {
    const charged = formatMoney(charge.amountKopiykas ?? 0, charge.currency ?? 'no currency');
    return violated('wrong', `charged ${charged}, the total is ${formatMoney(order.totalKopiykas, order.currency)}`);
  }
  if (order.totalKopiykas > PAYMENT_LIMIT_KOPIYKAS) {
    return violated('wrong', `Confirmed for ${money(order.totalKopiykas)}, above the payment limit`);
  }
  return NO_FINDINGS;
}

function checkCancelled(order: OrderFact, payment: PaymentFact | undefined): Finding {
  if (payment?.state === 'accepted') return violated('unexpected', `Cancelled, but charged and not refunded`);
  if (payment?.state === 'attempted') return violated('unexpected', 'Cancelled, but its charge was left open');
  if (payment !== undefined && !ENDS_WITHOUT_MONEY.has(payment.state))
    return violated('wrong', `its payment is "${payment.state}", which is not a state of a payment`);
  if (payment?.state === 'declined' && (payment.amountKopiykas ?? 0) <= PAYMENT_LIMIT_KOPIYKAS) {
    return violated('wrong', `declined for ${money(payment.amountKopiykas ?? 0)}, which is within the payment limit`);
  }
  if (order.reason === 'payment declined' && payment?.state !== 'declined') {
    return violated('wrong', `cancelled as "payment declined", but its payment is ${payment?.state ?? 'missing'}`);
  }
  return NO_FINDINGS;
}
