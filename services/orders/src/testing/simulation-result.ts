import type { DecidedOrder } from '../place-order.ts';
import type { History } from './history.ts';
import type { Journal } from './journal.ts';
import type { OrdersStore } from './orders-store.ts';
import type { PaymentsModel, StockModel } from './services.ts';
import type { ShippingModel } from './shipping.ts';

/** A response that a client received. */
export interface ClientResponse {
  readonly client: number;
  readonly order: DecidedOrder;
}

/** What is left when a history has ended. */
export interface SimulationResult {
  readonly history: History;
  readonly store: OrdersStore;
  readonly stock: StockModel;
  readonly payments: PaymentsModel;
  readonly shipping: ShippingModel;
  readonly responses: readonly ClientResponse[];
  readonly journal: Journal;
  /** Sagas counted by `shop.sagas`. */
  readonly counted: number;
}
