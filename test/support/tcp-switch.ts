import { connect, createServer, type Socket } from 'node:net';

/** A loopback relay to one address that a test can cut and restore: the network between a service and its dependency. */
export interface TcpSwitch extends AsyncDisposable {
  readonly port: number;
  /** Connections of callers that are open now. */
  readonly connections: number;
  /** The given URL with this switch's address in place of the original. */
  through(url: string): string;
  /** Ends all connections and refuses new ones. */
  cut(): Promise<void>;
  restore(): Promise<void>;
}

/** Opens a switch in front of the host and port of `url`. */
export async function openTcpSwitch(url: string): Promise<TcpSwitch> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const remember = (socket: Socket) => {
    sockets.add(socket);
    // Either end may be reset by the other; the pair is closed together.
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((near) => {
    const far = remember(connect(Number(target.port), target.hostname));
    remember(near).pipe(far).pipe(near);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });

  let port = 0;
  const listen = () =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host: '127.0.0.1', port }, () => {
        server.off('error', reject);
        port = (server.address() as { port: number }).port;
        resolve();
      });
    });
  const cut = () =>
    new Promise<void>((resolve) => {
      if (!server.listening) return resolve();
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });

  await listen();
  return {
    port,
    get connections() {
      return [...sockets].filter(({ localPort }) => localPort === port).length;
    },
    through(original) {
      const changed = new URL(original);
      changed.hostname = '127.0.0.1';
      changed.port = String(port);
      return changed.href;
    },
    cut,
    restore: listen,
    [Symbol.asyncDispose]: cut,
  };
}
