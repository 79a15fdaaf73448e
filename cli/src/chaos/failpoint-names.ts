import type { ServiceName } from '../topology/services.ts';

/** One boundary at which a service can be made to die, wait or fail. */
export interface FailpointPlace {
  /** Its name inside its service, `S4`. */
  readonly at: string;
  /** What has happened when it is passed, and what has not. */
  readonly stands: string;
  /** What `drop-reply` loses here; absent where no answer is on its way. */
  readonly reply?: 'HTTP answer' | 'gRPC answer' | 'confirm' | 'COMMIT';
  /** True where an HTTP door can be made to answer with any status (`respond`). */
  readonly isDoor?: boolean;
}

/**
 * Every boundary: A of an answer, C of a commit's answer, G of the gateway, H of shipping's delivery, K of the saga's
 * compensation, P of the providers' sides, R of the relay, S of the saga. A test keeps the names equal to the services'
 * sources. S3 and K4 of the fault catalogue do not exist here; docs/chaos.md says why.
 */
export const failpointPlaces = {
  gateway: [
    { at: 'G1', stands: 'a request has come, nothing is sent on', isDoor: true },
    { at: 'G2', stands: 'orders has answered, the answer is not passed on', reply: 'HTTP answer', isDoor: true },
  ],
  orders: [
    { at: 'S0', stands: 'an order is accepted, nothing is recorded', isDoor: true },
    { at: 'S1', stands: 'order, prices and saga are inserted (Started)' },
    { at: 'S2', stands: 'the catalog has answered, nothing is recorded' },
    { at: 'S4', stands: 'stock has reserved, that is not saved' },
    { at: 'S5', stands: 'StockReserved is saved' },
    { at: 'S6', stands: 'payments has charged, that is not saved' },
    { at: 'S7', stands: 'PaymentCharged is saved' },
    { at: 'S8', stands: 'the final statement is next' },
    { at: 'C1', stands: 'the final statement is committed, its answer is not known', reply: 'COMMIT' },
    { at: 'S9', stands: 'Confirmed is saved, the client does not know' },
    { at: 'A1', stands: 'the answer is made, not sent', reply: 'HTTP answer', isDoor: true },
    { at: 'S10', stands: 'the client has been answered' },
    { at: 'K1', stands: 'a step was refused or unclear, that is not saved' },
    { at: 'K2', stands: 'Compensating is saved' },
    { at: 'K3', stands: 'a compensation has succeeded, that is not saved' },
    { at: 'K5', stands: 'the last compensation is saved (Cancelled)' },
    { at: 'R1', stands: 'the relay has selected rows, nothing is sent' },
    { at: 'R2', stands: 'a message is sent, not confirmed' },
    { at: 'R3', stands: 'a message is confirmed, its row is not marked', reply: 'confirm' },
    { at: 'R4', stands: 'the rows of a batch are marked' },
  ],
  catalog: [
    { at: 'P0', stands: 'a product is asked for, nothing is read', isDoor: true },
    { at: 'P1', stands: 'the product is read, not answered', reply: 'HTTP answer', isDoor: true },
  ],
  stock: [
    { at: 'P0', stands: 'a reservation is asked for, no transaction is begun' },
    { at: 'P1', stands: 'a reservation is made, not committed' },
    { at: 'C1', stands: "a reservation or release is committed, COMMIT's answer is not known", reply: 'COMMIT' },
    { at: 'P2', stands: 'a reservation is committed, not answered', reply: 'gRPC answer' },
    { at: 'P4', stands: 'a release is asked for, no transaction is begun' },
    { at: 'P3', stands: 'a release is committed, not answered', reply: 'gRPC answer' },
  ],
  payments: [
    { at: 'P0', stands: 'a charge is asked for, nothing is recorded', isDoor: true },
    { at: 'P1', stands: 'the attempt is recorded, its outcome is not' },
    { at: 'P2', stands: 'the outcome is recorded, not answered', reply: 'HTTP answer', isDoor: true },
    { at: 'P4', stands: 'a refund is asked for, nothing is recorded', isDoor: true },
    { at: 'P3', stands: 'a refund is recorded, not answered', reply: 'HTTP answer', isDoor: true },
  ],
  shipping: [
    { at: 'H1', stands: 'a message has come, no transaction is begun' },
    { at: 'H2', stands: 'inbox and shipment are written, not committed' },
    { at: 'C1', stands: "inbox and shipment are committed, COMMIT's answer is not known", reply: 'COMMIT' },
    { at: 'H3', stands: 'they are committed, the message is not acknowledged' },
    { at: 'H4', stands: 'the message is acknowledged' },
  ],
} as const satisfies Record<ServiceName, readonly FailpointPlace[]>;

const namesOf = (places: readonly FailpointPlace[]): readonly string[] => places.map(({ at }) => at);

/** The same by name only. */
export const failpointNames: Readonly<Record<ServiceName, readonly string[]>> = {
  gateway: namesOf(failpointPlaces.gateway),
  orders: namesOf(failpointPlaces.orders),
  catalog: namesOf(failpointPlaces.catalog),
  stock: namesOf(failpointPlaces.stock),
  payments: namesOf(failpointPlaces.payments),
  shipping: namesOf(failpointPlaces.shipping),
};

/** The place of this name; undefined when its service has none. */
export function findFailpoint(service: string, at: string): FailpointPlace | undefined {
  const places: readonly FailpointPlace[] = failpointPlaces[service as ServiceName] ?? [];
  return places.find((place) => place.at === at);
}
