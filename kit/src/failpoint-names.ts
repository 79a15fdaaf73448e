/**
 * Every failpoint of every service: what the services may pass (`Failpoint`), and all that tools know of them. A name says
 * where it is: `<what has happened>:<how far that has come>`; what is `unsaved` is lost with the process. docs/saga.md shows
 * this table.
 */
export interface FailpointPlace {
  /** What has happened when it is passed, and what has not. */
  readonly description: string;
  /** What is lost when the process ends there, and what makes up for it. */
  readonly lost: string;
  /** What `drop-reply` loses here; absent where no response is on its way. */
  readonly reply?: 'HTTP response' | 'gRPC response' | 'confirm' | 'COMMIT';
  /** True where an HTTP server can be made to send any status (`respond`). */
  readonly canRespond?: true;
}

export const failpoints = {
  gateway: {
    'request-received:unforwarded': {
      description: 'a request is received, not forwarded',
      lost: 'the request: nothing is recorded',
      canRespond: true,
    },
    'response-received:unforwarded': {
      description: 'orders has responded, the response is not passed on',
      lost: 'the response: a repeat of the request with its key returns it',
      reply: 'HTTP response',
      canRespond: true,
    },
  },
  orders: {
    'order-received:unrecorded': {
      description: 'an order is received, nothing is recorded',
      lost: 'the order: a repeat of the request with its key makes it',
      canRespond: true,
    },
    'products-read:unrecorded': {
      description: 'the catalog has responded, nothing is recorded',
      lost: 'the order and its prices: a repeat of the request with its key makes it',
    },
    'order-started:saved': {
      description: 'order, prices and saga are inserted (`Started`)',
      lost: 'the response: recovery reserves stock and goes on',
    },
    'stock-reserved:unsaved': {
      description: 'stock has reserved, that is not saved',
      lost: 'the result of the step: recovery reserves again with the same key',
    },
    'stock-reserved:saved': {
      description: '`StockReserved` is saved',
      lost: 'the response: recovery charges and goes on',
    },
    'payment-charged:unsaved': {
      description: 'payments has charged, that is not saved',
      lost: 'the result of the step: recovery charges again with the same key',
    },
    'payment-charged:saved': {
      description: '`PaymentCharged` is saved',
      lost: 'the response: recovery confirms',
    },
    'order-confirmed:unsaved': {
      description: 'the final statement is next',
      lost: 'the response: recovery confirms',
    },
    'order-confirmed:unacknowledged': {
      description: "the final statement is committed, PostgreSQL's response is unknown",
      lost: 'the response and the count in `shop.sagas`: the order is Confirmed',
      reply: 'COMMIT',
    },
    'order-confirmed:saved': {
      description: '`Confirmed` is saved, the waiting request does not know',
      lost: 'the response and the count in `shop.sagas`: the order is Confirmed',
    },
    'order-decided:response-unsent': {
      description: 'the order is Confirmed or Cancelled, the response is not sent',
      lost: 'the response: a repeat of the request with its key returns it',
      reply: 'HTTP response',
      canRespond: true,
    },
    'order-decided:response-sent': {
      description: 'the client has its response',
      lost: 'nothing',
    },
    'step-failed:unsaved': {
      description: 'a step was refused or has no clear outcome, that is not saved',
      lost: 'the result of the step: recovery runs it again with the same key',
    },
    'step-failed:saved': {
      description: '`Compensating` is saved (`Cancelled` where nothing is to be compensated)',
      lost: 'the response, unless it has left already: recovery compensates',
    },
    'step-compensated:unsaved': {
      description: 'a compensation has succeeded, that is not saved',
      lost: 'its success: recovery compensates again with the same key',
    },
    'order-compensated:saved': {
      description: 'the last compensation is saved (`Cancelled`)',
      lost: 'nothing',
    },
    'batch-claimed:unpublished': {
      description: 'the relay has claimed rows of the outbox, nothing is sent',
      lost: 'the claim: the next relay publishes the rows',
    },
    'event-published:unconfirmed': {
      description: 'an event is sent, not confirmed',
      lost: 'the confirm: the event is published again',
    },
    'event-confirmed:unmarked': {
      description: 'an event is confirmed, its row is not marked',
      lost: 'the mark: the event is published again, without a second effect',
      reply: 'confirm',
    },
    'batch-marked:committed': {
      description: 'the rows of a batch are marked',
      lost: 'nothing',
    },
  },
  catalog: {
    'product-requested:unread': {
      description: 'a product is requested, nothing is read',
      lost: 'the request: orders repeats it',
      canRespond: true,
    },
    'product-read:response-unsent': {
      description: 'the product is read, the response is not sent',
      lost: 'the response: orders repeats the request',
      reply: 'HTTP response',
      canRespond: true,
    },
  },
  stock: {
    'reservation-requested:unrecorded': {
      description: 'a reservation is requested, no transaction is begun',
      lost: 'the request: orders repeats it with the same key',
    },
    'reservation-decided:uncommitted': {
      description: 'a reservation is made or refused, that is not committed',
      lost: 'the reservation: orders repeats the request with the same key',
    },
    'transaction-committed:unacknowledged': {
      description: 'a reservation or release is committed, the response to COMMIT is unknown',
      lost: 'the response: a repeat with the same key has no second effect',
      reply: 'COMMIT',
    },
    'reservation-decided:response-unsent': {
      description: 'a reservation is committed, the response is not sent',
      lost: 'the response: a repeat with the same key returns it',
      reply: 'gRPC response',
    },
    'release-requested:unrecorded': {
      description: 'a release is requested, no transaction is begun',
      lost: 'the request: orders repeats it until it succeeds',
    },
    'release-recorded:response-unsent': {
      description: 'a release is committed, the response is not sent',
      lost: 'the response: a repeat with the same key has no second effect',
      reply: 'gRPC response',
    },
  },
  payments: {
    'charge-requested:unrecorded': {
      description: 'a charge is requested, nothing is recorded',
      lost: 'the request: orders repeats it with the same key',
      canRespond: true,
    },
    'charge-attempted:undecided': {
      description: 'the attempt is recorded, its outcome is not',
      lost: 'the outcome: a repeat with the same key decides, a refund voids the attempt',
    },
    'charge-decided:response-unsent': {
      description: 'the outcome is recorded, the response is not sent',
      lost: 'the response: a repeat with the same key returns it',
      reply: 'HTTP response',
      canRespond: true,
    },
    'refund-requested:unrecorded': {
      description: 'a refund is requested, nothing is recorded',
      lost: 'the request: orders repeats it until it succeeds',
      canRespond: true,
    },
    'refund-recorded:response-unsent': {
      description: 'a refund is recorded, the response is not sent',
      lost: 'the response: a repeat with the same key has no second effect',
      reply: 'HTTP response',
      canRespond: true,
    },
  },
  shipping: {
    'message-received:unrecorded': {
      description: 'a message is received, no transaction is begun',
      lost: 'the delivery: the broker delivers the message again',
    },
    'shipment-recorded:uncommitted': {
      description: 'inbox and shipment are written, not committed',
      lost: 'both rows: the broker delivers the message again',
    },
    'transaction-committed:unacknowledged': {
      description: 'inbox and shipment are committed, the response to COMMIT is unknown',
      lost: 'the acknowledgement: the message is delivered again, without a second effect',
      reply: 'COMMIT',
    },
    'shipment-committed:message-unacknowledged': {
      description: 'inbox and shipment are committed, the message is not acknowledged',
      lost: 'the acknowledgement: the message is delivered again, without a second effect',
    },
    'shipment-committed:message-acknowledged': {
      description: 'the message is acknowledged',
      lost: 'nothing',
    },
  },
} as const satisfies Record<string, Record<string, FailpointPlace>>;

export type FailpointService = keyof typeof failpoints;

/** The failpoints of one service: `stock-reserved:unsaved`. */
export type FailpointName<Service extends FailpointService> = keyof (typeof failpoints)[Service] & string;

/** What each name looks like, as a regular expression. */
export const FAILPOINT_NAME = '[a-z]+(?:-[a-z]+)+:[a-z]+(?:-[a-z]+)*';

/** The failpoints of a service by name, in the order in which work passes them; none when the service is unknown. */
export function failpointsOf(service: string): ReadonlyMap<string, FailpointPlace> {
  const known: Readonly<Record<string, Readonly<Record<string, FailpointPlace>>>> = failpoints;
  return new Map(Object.hasOwn(known, service) ? Object.entries(known[service] ?? {}) : []);
}
