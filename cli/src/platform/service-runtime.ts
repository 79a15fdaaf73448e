import type { ServiceDefinition } from './services.ts';
import type { Running, StartConditions } from './unit.ts';

/** What services run as, in the words of `up --runtime`. */
export type RuntimeKind = 'process' | 'docker';

export const runtimeKinds: readonly RuntimeKind[] = ['process', 'docker'];

/** One replica, ready to be started. */
export interface ServiceInstance {
  readonly definition: ServiceDefinition;
  /** `orders-1` */
  readonly name: string;
  /** Its whole environment as a process would have it. Holds passwords. */
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
}

/** How instances of services are run. They listen on the machine's loopback, whatever they run as. */
export interface ServiceRuntime {
  readonly kind: RuntimeKind;
  /**
   * What an instance is made from: it must be restarted when `version` changes; `detail` is for people. Throws CliError
   * (3) when this machine cannot run it so.
   */
  source(definition: ServiceDefinition): Promise<ServiceSource>;
  /** Starts it. `process` of the result is the service itself, whose pid its health answer tells. */
  start(instance: ServiceInstance, source: ServiceSource, conditions: StartConditions): Promise<Running>;
}

export interface ServiceSource {
  readonly version: string;
  /** "image shop/orders:dev"; absent where there is nothing to say. */
  readonly detail?: string;
  /** What other processes need to work with it; no secret. */
  info?(instance: string): Readonly<Record<string, string | number>>;
}
