import type { Running } from '../process/running.ts';
import { createFrontSocket, type FrontSocket } from './front-socket.ts';
import type { ServiceInstance, ServiceSource } from './service-runtime.ts';
import type { StartConditions } from './unit.ts';

/** The ports that processes share, for as long as this supervisor lives. */
export interface SharedPorts {
  replica(place: SharedPortPlace): SharedPortReplica;
}

/** What one replica shares, and with whom. */
export interface SharedPortPlace {
  readonly instance: string;
  /** The processes of a replica that replace one another share it, and those of other replicas that have the same one. */
  readonly port: number;
  /** Two ports for itself, one for each of two processes that replace one another. */
  readonly own: readonly number[];
  /** The variable in which a process reads which of them is its own. */
  readonly ownVariable: 'INSTANCE_PORT' | 'HEALTH_PORT';
  /**
   * What becomes of connections while none of its processes runs after a crash: callers that have limits and other replicas
   * want to be refused.
   */
  readonly withoutProcess: 'wait' | 'refused';
}

/** One replica, as planned once. */
export interface SharedPortReplica {
  /** `health` is where its present process responds, or its last one. */
  ports(): Readonly<Record<'main' | 'health', number>>;
  /** Starts it with what it shares and a port that no process of this replica has. */
  start(source: ServiceSource, instance: ServiceInstance, conditions: StartConditions): Promise<Running>;
  /** It is not kept running any more: connections do not wait for its next process. */
  leave(): void;
}

export function createSharedPorts(host: string): SharedPorts {
  const sockets = new Map<number, FrontSocket>();
  /** Own ports on which a process listens, by instance. */
  const used = new Map<string, Set<number>>();
  return {
    replica({ instance, port, own, ownVariable, withoutProcess }) {
      const socket = sockets.get(port) ?? createFrontSocket(host, port);
      sockets.set(port, socket);
      const taken = used.get(instance) ?? new Set();
      used.set(instance, taken);
      const holder = {};
      let health = own[0] as number;
      return {
        ports: () => ({ main: port, health }),
        async start(source, { env, ...rest }, conditions) {
          const free = own.find((one) => !taken.has(one));
          if (free === undefined) throw new Error(`${instance} has ${own.length} processes already`);
          health = free;
          taken.add(free);
          const front = { descriptor: () => socket.hold(holder) };
          const begun = source.start({ ...rest, env: { ...env, [ownVariable]: String(free) }, front }, conditions);
          const giveBack = () => {
            taken.delete(free);
            if (withoutProcess === 'refused') socket.release(holder);
          };
          begun.then(({ ended }) => ended.then(giveBack), giveBack);
          return begun;
        },
        leave: () => socket.release(holder),
      };
    },
  };
}
