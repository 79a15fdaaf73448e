import type { Deadline } from '@shop/kit/deadline.ts';
import type { ChargeResult, Payments } from './payments-client.ts';
import type { Participants, StepOutcome } from './saga/saga.ts';
import type { ReserveResult, Stock } from './stock-client.ts';

const RESERVED: Readonly<Record<ReserveResult, StepOutcome>> = {
  reserved: { kind: 'done' },
  insufficient: { kind: 'refused', reason: 'out of stock' },
  released: { kind: 'refused', reason: 'stock unavailable' },
};

const CHARGED: Readonly<Record<ChargeResult, StepOutcome>> = {
  accepted: { kind: 'done' },
  declined: { kind: 'refused', reason: 'payment declined' },
  voided: { kind: 'refused', reason: 'payment unavailable' },
};

/** Stock and payments as the saga's participants, whose calls end at the deadline. */
export function participantsWithin(deadline: Deadline, clients: { stock: Stock; payments: Payments }): Participants {
  const { stock, payments } = clients;
  return {
    async reserve({ orderId, lines }) {
      const wanted = lines.map(({ productId, quantity }) => ({ productId, quantity }));
      return RESERVED[await stock.reserve(orderId, wanted, deadline)];
    },
    async charge({ orderId, totalKopiykas: amountKopiykas, currency }) {
      return CHARGED[await payments.charge({ orderId, amountKopiykas, currency }, deadline)];
    },
    release: ({ orderId }) => stock.release(orderId, deadline),
    refund: ({ orderId }) => payments.refund(orderId, deadline),
  };
}
