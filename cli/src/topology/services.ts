import type { ComponentName } from './components.ts';

/** How a service is called. A gRPC service has a second listener, HTTP, for health. */
export type Protocol = 'http' | 'grpc';

/**
 * The services, their calls, databases and broker accounts: the only list of them (decision 0058). The order is that of
 * every listing: as an order meets them.
 */
const definitions = [
  { name: 'gateway', protocol: 'http', preferredPort: 8080, semiSpaceMb: 8, calls: ['orders'], admitsOrders: true },
  {
    name: 'orders',
    protocol: 'http',
    semiSpaceMb: 8,
    calls: ['catalog', 'stock', 'payments'],
    mainTable: 'orders',
    usesBroker: true,
  },
  { name: 'catalog', protocol: 'http', semiSpaceMb: 2, mainTable: 'products' },
  { name: 'stock', protocol: 'grpc', semiSpaceMb: 2, mainTable: 'inventory' },
  { name: 'payments', protocol: 'http', semiSpaceMb: 2, mainTable: 'payments' },
  { name: 'shipping', protocol: 'http', semiSpaceMb: 2, mainTable: 'Shipments', usesBroker: true, consumes: true },
] as const satisfies readonly Definition[];

interface Definition {
  readonly name: string;
  readonly protocol: Protocol;
  /** Its replicas share one port, which clients know: this one, or the next free one. The others have a port each. */
  readonly preferredPort?: number;
  /**
   * Each half of V8's young generation, MB (its default is 16): less memory for more collections. What every order passes
   * through twice gets more. Figures: docs/benchmarks/2026-11.md.
   */
  readonly semiSpaceMb: number;
  /** The services that it calls. */
  readonly calls?: readonly string[];
  /** The first table that it writes, or reads, in the database that is named after it; without one it has no database. */
  readonly mainTable?: string;
  /** Operators may have it shed a share of the new orders. */
  readonly admitsOrders?: true;
  /** It has an account on the broker. */
  readonly usesBroker?: true;
  /** Its replicas take messages from its queue; one that is drained takes none. */
  readonly consumes?: true;
}

export type ServiceName = (typeof definitions)[number]['name'];

/** The services whose definition has the key: `ServiceWith<'mainTable'>` are those that have a database. */
export type ServiceWith<Key extends keyof Definition> = Extract<
  (typeof definitions)[number],
  { readonly [key in Key]: unknown }
>['name'];

/** One service as the supervisor sees it. */
export interface ServiceDefinition extends Definition {
  readonly name: ServiceName;
  readonly calls?: readonly ServiceName[];
}

export const services: readonly ServiceDefinition[] = definitions;

export const serviceNames: readonly ServiceName[] = services.map(({ name }) => name);

/** One arrow of the topology. */
export interface Edge {
  /** Also the name of its proxy; further replicas of the target add `-2`, `-3`. */
  readonly name: string;
  readonly from: ServiceName;
  readonly to: ServiceName | ComponentName;
  /** Its protocol. */
  readonly protocol: Protocol | 'sql' | 'amqp';
  /**
   * The variable that says where the caller connects: `DATABASE_URL`, `BROKER_URL`, `CATALOG_URLS`, `STOCK_ADDRESSES`.
   */
  readonly variable: string;
}

/** Every edge (source: "Topology" in the reference): calls between services, then databases, then the broker. */
export const edges: readonly Edge[] = [
  ...services.flatMap(({ name, calls = [] }) => calls.map((to) => callEdge(name, to))),
  ...services.flatMap(({ name, mainTable }) => (mainTable === undefined ? [] : [databaseEdge(name)])),
  ...services.flatMap(({ name, usesBroker }) => (usesBroker ? [brokerEdge(name)] : [])),
];

function callEdge(from: ServiceName, to: ServiceName): Edge {
  const { protocol } = services.find(({ name }) => name === to) as ServiceDefinition;
  const variable = `${to.toUpperCase()}_${protocol === 'grpc' ? 'ADDRESSES' : 'URLS'}`;
  return { name: `${from}-${to}`, from, to, protocol, variable };
}

function databaseEdge(from: ServiceName): Edge {
  return { name: `${from}-db`, from, to: 'postgres', protocol: 'sql', variable: 'DATABASE_URL' };
}

function brokerEdge(from: ServiceName): Edge {
  return { name: `${from}-broker`, from, to: 'rabbitmq', protocol: 'amqp', variable: 'BROKER_URL' };
}

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
