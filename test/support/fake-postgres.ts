import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** PostgreSQL: "Message Formats" of its protocol 3.0; a type, a length that counts itself, and values. */
function message(type: string, ...values: Buffer[]): Buffer {
  const body = Buffer.concat(values);
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + length.length);
  return Buffer.concat([Buffer.from(type), length, body]);
}

const readyForQuery = message('Z', Buffer.from('I'));
const authenticated = Buffer.concat([message('R', Buffer.alloc(4)), message('K', Buffer.alloc(8)), readyForQuery]);
const noRows = Buffer.concat([
  message('1'),
  message('2'),
  message('n'),
  message('C', Buffer.from('SELECT 0\0')),
  readyForQuery,
]);

export interface FakePostgres extends AsyncDisposable {
  readonly url: string;
  /** Connections that were made, those that ended among them. */
  readonly connections: number;
  /** Ends one, counted from 1, as a restart or a proxy does. */
  drop(connection: number): void;
}

/** A server that responds to a start-up and to each statement, with no rows, once `react` has resolved. */
export async function openFakePostgres(
  react: (connection: number, asked: 'start-up' | 'statement') => Promise<void> | void,
): Promise<FakePostgres> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    const connection = sockets.push(socket);
    let isStarted = false;
    socket.on('error', () => undefined);
    socket.on('data', async (data) => {
      const asked = isStarted ? 'statement' : 'start-up';
      // The driver sends a whole statement in one piece, with Sync (`S`) at its end.
      if (isStarted && data.at(-5) !== 'S'.charCodeAt(0)) return;
      isStarted = true;
      await react(connection, asked);
      if (socket.writable) socket.write(asked === 'start-up' ? authenticated : noRows);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `postgres://user:password@127.0.0.1:${(server.address() as AddressInfo).port}/shop`,
    get connections() {
      return sockets.length;
    },
    drop: (connection) => void sockets[connection - 1]?.destroy(),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
