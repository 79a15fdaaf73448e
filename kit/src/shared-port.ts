import { once } from 'node:events';
import { type AddressInfo, createServer, type ListenOptions, type Socket } from 'node:net';
import { type TObject, Type } from 'typebox';
import { ConfigError, port } from './config.ts';
import type { HttpServer } from './server.ts';

/** What a service reads whose port may be a socket that it inherits. */
export const inheritedSocketVariables = {
  LISTEN_FD: Type.Optional(
    Type.Integer({
      minimum: 3,
      maximum: 1_023,
      description: 'descriptor of a socket that is bound to `PORT`, which processes that serve it together inherit',
    }),
  ),
} satisfies TObject['properties'];

/** The same for HTTP, where its health is asked for on the port that it serves. */
export const inheritedPortVariables = {
  ...inheritedSocketVariables,
  INSTANCE_PORT: Type.Optional(
    port('further port, which reaches this process alone; needed with `LISTEN_FD` and `REUSE_PORT`'),
  ),
} satisfies TObject['properties'];

/** The same where its replicas may share one port. */
export const sharedPortVariables = {
  ...inheritedPortVariables,
  REUSE_PORT: Type.Optional(
    Type.Enum(['0', '1'], {
      description: '`1`: the replicas bind `PORT` each for itself (SO_REUSEPORT); needs `INSTANCE_PORT`',
    }),
  ),
} satisfies TObject['properties'];

/** Values of these variables. */
export interface SharedPort {
  readonly HOST: string;
  readonly PORT: number;
  readonly INSTANCE_PORT?: number | undefined;
  readonly LISTEN_FD?: number | undefined;
  readonly REUSE_PORT?: '0' | '1' | undefined;
}

/** Throws ConfigError where a port is shared and none reaches one instance: its health could not be asked for. */
export function checkSharedPort({ INSTANCE_PORT, LISTEN_FD, REUSE_PORT }: SharedPort): void {
  const shares = LISTEN_FD !== undefined || REUSE_PORT === '1';
  if (shares && INSTANCE_PORT === undefined) {
    throw new ConfigError('configuration: INSTANCE_PORT must be set, as LISTEN_FD or REUSE_PORT shares PORT');
  }
}

/** The listener on a port that processes share. */
export interface SharedListener {
  readonly port: number;
  /** Takes no further connection: the other processes do. Resolves when its connections have ended. */
  leave(): Promise<void>;
}

/** Listens there and gives each connection to `serve`, opened as Node's HTTP servers open theirs. Resolves when it listens. */
export async function acceptAt(
  place: ListenOptions | { readonly fd: number },
  serve: (connection: Socket) => void,
): Promise<SharedListener> {
  const listener = createServer({ allowHalfOpen: true, noDelay: true }, serve);
  await once(listener.listen(place), 'listening');
  const { port } = listener.address() as AddressInfo;
  return { port, leave: () => new Promise((resolve) => listener.close(() => resolve())) };
}

/**
 * Listens on PORT, and on INSTANCE_PORT where there is one. Connections to either are served alike: health probes address this
 * process, clients any of them. Both are open once this resolves.
 */
export async function listenShared(server: HttpServer, config: SharedPort): Promise<SharedListener | undefined> {
  const { HOST: host, PORT, INSTANCE_PORT, LISTEN_FD, REUSE_PORT } = config;
  if (INSTANCE_PORT === undefined) {
    await server.listen({ host, port: PORT });
    return undefined;
  }
  // First: an HTTP server that does not listen itself does not track the connections that it is given.
  await server.listen({ host, port: INSTANCE_PORT });
  const place = LISTEN_FD === undefined ? { host, port: PORT, reusePort: REUSE_PORT === '1' } : { fd: LISTEN_FD };
  return acceptAt(place, (connection) => server.server.emit('connection', connection));
}
