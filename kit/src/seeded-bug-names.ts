/** A known bug that can be put back into one service, to see that the checks find it. */
export interface SeededBug {
  readonly service: 'orders' | 'stock' | 'payments' | 'shipping';
  /** What the service does wrong. */
  readonly title: string;
}

/** Every seeded bug. The code of each is in its service's folder `seeded-bugs/`, apart from the real code. */
export const seededBugs = {
  'publish-in-request': {
    service: 'orders',
    title: 'publishes the event inside the request, before the order is confirmed, past the outbox',
  },
  'mandatory-unbound': {
    service: 'orders',
    title: 'publishes with mandatory true: an event without a subscriber comes back and blocks its row',
  },
  'breaker-counts-402': {
    service: 'orders',
    title: 'counts a declined payment as a failure of payments: a few of them open the circuit breaker',
  },
  'pause-after-402': {
    service: 'orders',
    title: 'sends nothing to payments for 2 s after a declined payment',
  },
  'retry-declined': {
    service: 'orders',
    title: 'sends a declined payment again',
  },
  'price-in-hryvnias': {
    service: 'orders',
    title: 'takes the prices of the catalog for hryvnias: everything costs a hundredth',
  },
  'duration-in-seconds': {
    service: 'orders',
    title: 'records shop.saga.duration in seconds, where its unit says ms',
  },
  'gauge-always-zero': {
    service: 'orders',
    title: 'reports shop.outbox.pending as 0, whatever waits',
  },
  'no-retries': {
    service: 'orders',
    title: 'makes one attempt of every call, where its edge allows more',
  },
  'slow-flag': {
    service: 'orders',
    title: 'takes 1.5 s longer to confirm an order for which the flag publish-order-confirmed-v2 is on',
  },
  'crash-in-recovery': {
    service: 'orders',
    title: 'crashes once more when it takes over a saga of an instance that has gone',
  },
  'no-inbox': {
    service: 'shipping',
    title: 'adds the lines of every delivery to the shipment, whether or not the message was processed before',
  },
  'no-idempotency-key': {
    service: 'payments',
    title: 'charges again when a charge is repeated',
  },
  'charged-twice': {
    service: 'payments',
    title: 'takes the money again when a charge is repeated, and writes the payment once',
  },
  'large-charges-fail': {
    service: 'payments',
    title: 'responds with an error to a charge of more than 1,000 UAH',
  },
  'release-before-reserve-forgotten': {
    service: 'stock',
    title: 'forgets a release that comes before its reservation, and reserves for callers that have left',
  },
} as const satisfies Record<string, SeededBug>;

export type SeededBugName = keyof typeof seededBugs;

export function isSeededBugName(name: string): name is SeededBugName {
  return Object.hasOwn(seededBugs, name);
}
