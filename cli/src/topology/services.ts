import type { ComponentName } from './components.ts';

export type ServiceName = 'gateway' | 'orders' | 'catalog' | 'stock' | 'payments' | 'shipping';

/** One service as the supervisor sees it. */
export interface ServiceDefinition {
  readonly name: ServiceName;
  /** What its main door speaks; a gRPC service has a second, HTTP door for health. */
  readonly door: 'http' | 'grpc';
  /** Tried first for the first replica; a free port is taken otherwise. */
  readonly preferredPort?: number;
  /**
   * Each half of V8's young generation, MB (its default is 16): less memory for more collections. What every order passes
   * through twice gets more. Figures: docs/performance.md.
   */
  readonly semiSpaceMb: number;
}

/** The six services, in the order they are listed everywhere. */
export const services: readonly ServiceDefinition[] = [
  { name: 'gateway', door: 'http', preferredPort: 8080, semiSpaceMb: 8 },
  { name: 'orders', door: 'http', semiSpaceMb: 8 },
  { name: 'catalog', door: 'http', semiSpaceMb: 2 },
  { name: 'stock', door: 'grpc', semiSpaceMb: 2 },
  { name: 'payments', door: 'http', semiSpaceMb: 2 },
  { name: 'shipping', door: 'http', semiSpaceMb: 2 },
];

/** One arrow of the topology. */
export interface Edge {
  /** Also the name of its proxy; further replicas of the target add `-2`, `-3`. */
  readonly name: string;
  readonly from: ServiceName;
  readonly to: ServiceName | ComponentName;
  /** The variable that tells the caller where to connect. */
  readonly variable:
    | 'ORDERS_URLS'
    | 'CATALOG_URLS'
    | 'PAYMENTS_URLS'
    | 'STOCK_ADDRESSES'
    | 'DATABASE_URL'
    | 'BROKER_URL';
}

/** Every edge (source: "Topology" in the reference). */
export const edges: readonly Edge[] = [
  { name: 'gateway-orders', from: 'gateway', to: 'orders', variable: 'ORDERS_URLS' },
  { name: 'orders-catalog', from: 'orders', to: 'catalog', variable: 'CATALOG_URLS' },
  { name: 'orders-stock', from: 'orders', to: 'stock', variable: 'STOCK_ADDRESSES' },
  { name: 'orders-payments', from: 'orders', to: 'payments', variable: 'PAYMENTS_URLS' },
  { name: 'orders-db', from: 'orders', to: 'postgres', variable: 'DATABASE_URL' },
  { name: 'catalog-db', from: 'catalog', to: 'postgres', variable: 'DATABASE_URL' },
  { name: 'stock-db', from: 'stock', to: 'postgres', variable: 'DATABASE_URL' },
  { name: 'payments-db', from: 'payments', to: 'postgres', variable: 'DATABASE_URL' },
  { name: 'shipping-db', from: 'shipping', to: 'postgres', variable: 'DATABASE_URL' },
  { name: 'orders-broker', from: 'orders', to: 'rabbitmq', variable: 'BROKER_URL' },
  { name: 'shipping-broker', from: 'shipping', to: 'rabbitmq', variable: 'BROKER_URL' },
];

export const serviceNames: readonly ServiceName[] = services.map(({ name }) => name);

/** What a service needs to do its work: the ends of its edges. */
export function dependenciesOf(service: ServiceName): readonly (ServiceName | ComponentName)[] {
  return edges.filter(({ from }) => from === service).map(({ to }) => to);
}

/** `orders-2` */
export function instanceName(service: string, replica: number): string {
  return `${service}-${replica}`;
}

/** `orders-payments`, and `orders-payments-2` for the second replica of payments. */
export function proxyName(edge: Edge, replica: number): string {
  return replica === 1 ? edge.name : `${edge.name}-${replica}`;
}
