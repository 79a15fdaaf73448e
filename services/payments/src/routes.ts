import { problemResponse } from '@shop/kit/problem-api.ts';
import { ProblemError } from '@shop/kit/problems.ts';
import type { HttpServer } from '@shop/kit/server.ts';
import { storableText } from '@shop/kit/text.ts';
import { Type } from 'typebox';
import type { ChargeResult, Payment } from './payment.ts';
import type { Payments } from './payments.ts';

const OrderId = Type.String({ pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' });
const IdempotencyKey = storableText({ minLength: 1, maxLength: 200 });
const Amount = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Minor units (kopiykas)',
});

/** Unknown fields pass: a caller may be newer than this service. */
const ChargeBody = Type.Object({
  orderId: OrderId,
  amount: Amount,
  // The limit is in this currency, so no other can be compared with it.
  currency: Type.Literal('UAH'),
  idempotencyKey: IdempotencyKey,
});

const Accepted = Type.Object({ orderId: OrderId, status: Type.Literal('accepted') });
const Status = Type.Object({
  orderId: OrderId,
  status: Type.Enum(['attempted', 'accepted', 'declined', 'refunded', 'voided']),
});
const Details = Type.Object({
  ...Status.properties,
  amount: Type.Optional(Amount),
  currency: Type.Optional(Type.String()),
});
const invalid = problemResponse('The request does not fit its schema, or is not JSON');
const otherFailure = problemResponse('Any other failure');
const Params = Type.Object({ orderId: OrderId });

export function addRoutes(server: HttpServer, payments: Payments): void {
  server.post(
    '/payments',
    {
      schema: {
        summary: 'Charge an order',
        body: ChargeBody,
        response: {
          200: { description: 'It was charged by an earlier request with this key', ...Accepted },
          201: { description: 'It is charged', ...Accepted },
          400: invalid,
          402: problemResponse('The payment was declined'),
          409: problemResponse('The order was refunded before this charge arrived'),
          422: problemResponse('The idempotency key was used with other terms'),
          default: otherFailure,
        },
      },
    },
    async ({ body }, reply) => {
      const orderId = body.orderId.toLowerCase();
      const first = accepted(await payments.charge({ ...body, orderId }));
      return reply.code(first ? 201 : 200).send({ orderId, status: 'accepted' });
    },
  );

  server.post(
    '/payments/:orderId/refund',
    {
      schema: {
        summary: 'Refund the charge of an order, or refuse it before it is made',
        params: Params,
        body: Type.Object({ idempotencyKey: IdempotencyKey }),
        response: {
          200: Status,
          400: invalid,
          422: problemResponse('The idempotency key was used for another order'),
          default: otherFailure,
        },
      },
    },
    async ({ params, body }) => {
      const result = await payments.refund(params.orderId.toLowerCase(), body.idempotencyKey);
      if (result === 'key reused') {
        throw new ProblemError('idempotency_key_reused', 'the key was used for another order');
      }
      return { orderId: result.orderId, status: result.state };
    },
  );

  server.get(
    '/payments/:orderId',
    {
      schema: {
        summary: 'The payment of an order',
        params: Params,
        response: {
          200: Details,
          400: invalid,
          404: problemResponse('There is no such payment'),
          default: otherFailure,
        },
      },
    },
    async ({ params }) => {
      const payment = await payments.find(params.orderId.toLowerCase());
      if (payment === undefined) throw new ProblemError('payment_not_found', 'no payment of this order is known');
      return describe(payment);
    },
  );
}

/** True for the first result, false for a repeat. Throws the problem of any result that is not "accepted". */
function accepted(result: ChargeResult): boolean {
  switch (result.outcome) {
    case 'accepted':
      return result.first;
    case 'declined':
      throw new ProblemError('payment_declined', 'the amount is above the limit of one payment');
    case 'voided':
      throw new ProblemError('charge_voided', 'the order was refunded before this charge arrived');
    case 'key reused':
      throw new ProblemError('idempotency_key_reused', result.detail);
  }
}

function describe({ orderId, state, amount, currency }: Payment) {
  return {
    orderId,
    status: state,
    ...(amount === undefined ? {} : { amount }),
    ...(currency === undefined ? {} : { currency }),
  };
}
