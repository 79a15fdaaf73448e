import type { Running } from '../process/running.ts';
import type { ServiceDefinition } from '../topology/services.ts';
import type { Release } from './release.ts';
import type { StartConditions } from './unit.ts';

/** What services run as, in the words of `up --runtime`. */
export type RuntimeKind = 'process' | 'docker';

export const runtimeKinds: readonly RuntimeKind[] = ['process', 'docker'];

/** One replica, ready to be started. */
export interface ServiceInstance {
  /** `orders-1` */
  readonly name: string;
  /** Its whole environment as a process would have it. Holds passwords. */
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
  /** `127.0.0.1:9229`: where its inspector listens, for which it waits before it runs. */
  readonly inspector?: string;
  /** Present where its replicas share the main port: gives the descriptor of a socket that is bound to it. */
  readonly front?: { descriptor(): number };
}

/** How instances of services are run. They listen on the machine's loopback, whatever they run as. */
export interface ServiceRuntime {
  readonly kind: RuntimeKind;
  /**
   * What a service's instances are started from: this release, or what the clone has built. Throws CliError (3) when this machine
   * cannot run it so.
   */
  source(definition: ServiceDefinition, release?: Release): Promise<ServiceSource>;
}

export interface ServiceSource {
  /** When it changes, instances must be restarted. */
  readonly version: string;
  /** For people: "image shop/orders:dev"; absent where there is nothing to say. */
  readonly detail?: string;
  /** What other processes need to work with an instance; no secret. */
  info?(instance: string): Readonly<Record<string, string | number>>;
  /** Starts an instance. `process` of the result is the service itself, whose pid its health response has. */
  start(instance: ServiceInstance, conditions: StartConditions): Promise<Running>;
}
