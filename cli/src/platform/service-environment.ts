import { flags } from '@shop/kit/flag-names.ts';
import type { Track } from '@shop/kit/release.ts';
import { type SeededBugName, seededBugs } from '@shop/kit/seeded-bug-names.ts';
import type { Address } from '../providers/component.ts';
import type { Secrets } from '../providers/secrets.ts';
import { brokerUrl, databaseUrl } from '../providers/urls.ts';
import type { BrokerUser, DatabaseName } from '../topology/databases.ts';
import { type Edge, edges, type ServiceDefinition } from '../topology/services.ts';
import type { Release } from './release.ts';
import { isServiceSetting } from './settings.ts';

/** What decides the environment of one replica. */
export interface ServicePlace {
  readonly definition: ServiceDefinition;
  readonly instance: string;
  readonly ports: Readonly<Record<string, number>>;
  /** Where the caller connects for an edge, one address per replica of its target. */
  readonly endpointsOf: (edge: Edge) => readonly Address[];
  readonly secrets: Secrets;
  /** Set when the broker is not ours; holds a password. */
  readonly externalBrokerUrl?: string | undefined;
  readonly telemetryUrl: string;
  readonly compileCacheDir: string;
  /** Where tests arm failpoints; without it they cannot be armed. */
  readonly failpointDir?: string | undefined;
  /** Where feature flags are switched; the services that need one get its path. */
  readonly flagFile?: string | undefined;
  /** Where its callees' addresses are written; the environment holds those of its start. */
  readonly upstreamsFile?: string | undefined;
  /** Where the share of orders that are shed is set; the services that admit orders get its path. */
  readonly admissionFile?: string | undefined;
  /** Seeded bugs; a service gets the names of those that concern it. */
  readonly seededBugs?: readonly SeededBugName[] | undefined;
  /** Where it is another one than what the clone has built. */
  readonly release?: Pick<Release, 'version' | 'seededBugs' | 'env'> | undefined;
  /** Where it is not stable. */
  readonly track?: Track | undefined;
  /** Where a few variables are passed on from. */
  readonly env: NodeJS.ProcessEnv;
}

/** What Node and the user's shell agree on: passed on to services beside the settings meant for them. */
const ofTheShell = /^(PATH|HOME|LANG|LC_.*|TZ|TMPDIR)$/;

/** The whole environment of one replica (source: "A service's environment" in the architecture). Holds passwords. */
export function serviceEnvironment(place: ServicePlace): Record<string, string> {
  const { definition, instance, ports, telemetryUrl, compileCacheDir } = place;
  return {
    ...passOn(place.env),
    HOST: '127.0.0.1',
    PORT: String(ports.main),
    ...(ports.health !== undefined && { HEALTH_PORT: String(ports.health) }),
    INSTANCE: instance,
    EXIT_WITH_PARENT: '1',
    NODE_COMPILE_CACHE: compileCacheDir,
    ...(place.failpointDir !== undefined && { FAILPOINT_DIR: place.failpointDir }),
    ...flagVariable(place),
    ...(place.upstreamsFile !== undefined && { UPSTREAMS_FILE: place.upstreamsFile }),
    ...(definition.admitsOrders && place.admissionFile !== undefined && { ADMISSION_FILE: place.admissionFile }),
    ...seededBugsVariable(place),
    ...(place.track !== undefined && { SHOP_TRACK: place.track }),
    ...(place.release && { ...place.release.env, SHOP_VERSION: place.release.version }),
    OTEL_SERVICE_NAME: definition.name,
    OTEL_RESOURCE_ATTRIBUTES: `service.instance.id=${instance}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: telemetryUrl,
    ...edgeVariables(place),
  };
}

/** What DATABASE_POOL_SIZE says, which is passed on to every service; undefined where it is unset, or no number. Pure. */
export function databasePoolSizeIn({ DATABASE_POOL_SIZE: text }: NodeJS.ProcessEnv): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

function passOn(env: NodeJS.ProcessEnv): Record<string, string> {
  const entries = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(entries.filter(([name]) => ofTheShell.test(name) || isServiceSetting(name)));
}

function flagVariable({ definition, flagFile }: ServicePlace): Record<string, string> {
  const asks = Object.values(flags).some(({ service }) => service === definition.name);
  return asks && flagFile !== undefined ? { FLAGS_FILE: flagFile } : {};
}

function seededBugsVariable({ definition, seededBugs: names = [], release }: ServicePlace): Record<string, string> {
  const released = (release?.seededBugs ?? []) as readonly SeededBugName[];
  const own = [...new Set([...names, ...released])].filter((name) => seededBugs[name].service === definition.name);
  return own.length === 0 ? {} : { SHOP_SEEDED_BUGS: own.join(',') };
}

function edgeVariables(place: ServicePlace): Record<string, string> {
  const own = edges.filter(({ from }) => from === place.definition.name);
  return Object.fromEntries(own.map((edge) => [edge.variable, edgeValue(edge, place)]));
}

function edgeValue(edge: Edge, { endpointsOf, secrets, externalBrokerUrl }: ServicePlace): string {
  const addresses = endpointsOf(edge);
  const [first] = addresses;
  if (!first) throw new Error(`edge ${edge.name} has no endpoint`);
  switch (edge.protocol) {
    case 'sql':
      return databaseUrl('service', edge.from as DatabaseName, { address: first, secrets });
    case 'amqp': {
      const url = brokerUrl(edge.from as BrokerUser, {
        address: first,
        secrets,
        ...(externalBrokerUrl !== undefined && { externalUrl: externalBrokerUrl }),
      });
      return atAddress(url, first);
    }
    case 'grpc':
      return addresses.map(({ host, port }) => `${host}:${port}`).join(',');
    case 'http':
      return addresses.map(({ host, port }) => `http://${host}:${port}`).join(',');
  }
}

/** A broker that is not ours is reached through its proxy too, with the account its URL names. */
function atAddress(url: string, { host, port }: Address): string {
  const changed = new URL(url);
  changed.hostname = host;
  changed.port = String(port);
  return changed.toString();
}
