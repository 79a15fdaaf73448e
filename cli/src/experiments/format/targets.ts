import { targetsOf } from '../../chaos/catalog.ts';
import type { Scope } from '../../chaos/fault.ts';
import type { EdgeState, InstanceState, PlatformState } from '../../platform/state.ts';
import { edges, instanceName, proxyName, serviceNames } from '../../topology/services.ts';
import type { PlatformNeeds } from './schema.ts';

const components = ['postgres', 'rabbitmq', 'toxiproxy'] as const;

/** Names in a platform as an experiment wants it. */
export interface Targets {
  /** What a fault of this scope can be aimed at. */
  ofFaults(scope: Scope): readonly string[];
  /** `orders`, `orders-1`, `orders-2`, ... */
  readonly services: readonly string[];
  /** The same and the components. */
  readonly processes: readonly string[];
}

/** What can be named in an experiment: the shop's services with the replicas it asks for, edges and components. */
export function targetsIn({ replicas }: Pick<PlatformNeeds, 'replicas'>): Targets {
  const countOf = (service: string) => replicas[service as keyof typeof replicas] ?? 1;
  const numbers = (service: string) => Array.from({ length: countOf(service) }, (_, index) => index + 1);
  const services = serviceNames.flatMap((service) =>
    numbers(service).map((n) => ({ service, name: instanceName(service, n), kind: 'service' })),
  );
  const instances = [...services, ...components.map((name) => ({ service: name, name, kind: 'component' }))];
  const state = {
    instances: instances as InstanceState[],
    edges: edges.flatMap((edge) => numbers(edge.to).map((n) => ({ name: proxyName(edge, n) }))) as EdgeState[],
  } satisfies Pick<PlatformState, 'instances' | 'edges'>;
  const serviceTargets = [...new Set(services.flatMap(({ service, name }) => [service, name]))];
  return {
    ofFaults: (scope) => targetsOf(scope, state),
    services: serviceTargets,
    processes: [...serviceTargets, ...components],
  };
}
