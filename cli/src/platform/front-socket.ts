import { BoundSocket } from 'node:net';
import { CliError } from '../errors.ts';

/**
 * A socket that is bound to a port which the replicas of a service share. We never listen on it ourselves: each replica
 * inherits its descriptor, and takes connections from the one queue that it has. Connections wait there while no replica
 * runs, until the last holder releases it.
 */
export interface FrontSocket {
  /** The descriptor for a new process of `holder`. Throws CliError (3) when another program has the port. */
  hold(holder: object): number;
  /** Does nothing for one that does not hold it. After the last one the port is free, once no process has the socket. */
  release(holder: object): void;
}

export function createFrontSocket(host: string, port: number): FrontSocket {
  const holders = new Set<object>();
  let socket: BoundSocket | undefined;
  return {
    hold(holder) {
      socket ??= bind(host, port);
      holders.add(holder);
      return socket.fd();
    },
    release(holder) {
      holders.delete(holder);
      if (holders.size > 0) return;
      socket?.close();
      socket = undefined;
    },
  };
}

function bind(host: string, port: number): BoundSocket {
  try {
    return new BoundSocket({ host, port });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw cause;
    throw new CliError({
      code: 'port_taken',
      what: `port ${port} is taken`,
      why: 'another program listens on it now',
      next: 'end that program ("shopctl doctor" names it), or choose another port: "shopctl down", then "shopctl up --port"',
      cause,
    });
  }
}
