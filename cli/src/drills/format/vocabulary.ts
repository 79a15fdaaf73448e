import { flagNames } from '@shop/kit/flag-names.ts';
import { databaseNames } from '../../topology/databases.ts';
import { edges, instanceName, type ServiceName, serviceNames } from '../../topology/services.ts';

/*
 * The closed vocabulary of a diagnosis. Trainees see all of it, so that no diagnosis fails by its wording. Components
 * follow from the topology.
 */

/** Replicas of a service that can be named. */
const MAX_REPLICA = 9;

/** Mechanisms by family. A diagnosis of another mechanism of the same family is partly right. */
export const mechanismFamilies = {
  availability: ['stopped', 'crash-loop', 'frozen'],
  connection: ['unreachable', 'connection-reset', 'narrow-bandwidth'],
  time: ['slow', 'overload', 'backlog'],
  database: ['lock', 'connections-exhausted', 'read-only'],
  resource: ['disk-full', 'resource-alarm'],
  messaging: ['lost-binding', 'poison-message'],
  change: ['bad-release', 'bad-flag', 'wrong-responses'],
  clock: ['clock-skew'],
  telemetry: ['telemetry-loss'],
  none: ['none'],
} as const;

export type MechanismFamily = keyof typeof mechanismFamilies;
export type Mechanism = (typeof mechanismFamilies)[MechanismFamily][number];

export const mechanisms: readonly Mechanism[] = Object.values(mechanismFamilies).flat();

export const scopes = [
  'all-orders',
  'some-orders',
  'one-replica',
  'shipments-only',
  'cancellations-only',
  'none',
] as const;

export type Scope = (typeof scopes)[number];

/** Components that are no replica: those of the topology, and what can be wrong beside it. */
export const plainComponents: readonly string[] = [
  ...serviceNames,
  ...databaseNames.map((name) => `database:${name}`),
  'postgres',
  'rabbitmq',
  ...edges.map(({ name }) => `network:${name}`),
  ...serviceNames.map((name) => `release:${name}`),
  ...flagNames.map((name) => `flag:${name}`),
  'load',
  'telemetry',
  'none',
];

/** `replica:orders-1` to `replica:shipping-9`. */
const replicaComponents: readonly string[] = serviceNames.flatMap((name) =>
  Array.from({ length: MAX_REPLICA }, (_, index) => `replica:${instanceName(name, index + 1)}`),
);

export const components: readonly string[] = [...plainComponents, ...replicaComponents];

export function familyOf(mechanism: Mechanism): MechanismFamily {
  const families = Object.entries(mechanismFamilies) as [MechanismFamily, readonly Mechanism[]][];
  return families.find(([, members]) => members.includes(mechanism))?.[0] ?? 'none';
}

/** Two components that share a process of the topology: an edge and its ends, a replica or a release and its service. Pure. */
export function areAdjacent(one: string, other: string): boolean {
  if (one === other) return false;
  const places = new Set(placesOf(one));
  return placesOf(other).some((place) => places.has(place));
}

/** The processes that a component touches. */
export function placesOf(component: string): readonly string[] {
  const [kind = '', name = ''] = component.split(':');
  switch (kind) {
    case 'network': {
      const edge = edges.find((one) => one.name === name);
      return edge === undefined ? [] : [edge.from, edge.to];
    }
    case 'replica':
      return [name.replace(/-\d+$/, '')];
    case 'release':
      return [name];
    case 'database':
      return [name, 'postgres'];
    case 'load':
      return ['gateway' satisfies ServiceName];
    case 'flag':
    case 'telemetry':
    case 'none':
      return [];
    default:
      return [component];
  }
}
