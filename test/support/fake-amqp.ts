import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** Names and numbers (class, method) of what a client asks while it sets up; AMQP 0-9-1, section 1.4 of its reference. */
const METHODS = {
  'connection.start-ok': [10, 11],
  'connection.open': [10, 40],
  'connection.close': [10, 50],
  'channel.open': [20, 10],
  'exchange.declare': [40, 10],
  'queue.declare': [50, 10],
  'queue.bind': [50, 20],
  'basic.qos': [60, 10],
  'basic.consume': [60, 20],
  'confirm.select': [85, 10],
} as const;

export type AmqpMethod = keyof typeof METHODS;

const short = (value: number) => Buffer.from([value >> 8, value & 0xff]);
const long = (value: number) => Buffer.from([value >> 24, value >> 16, value >> 8, value].map((byte) => byte & 0xff));
const shortString = (text: string) => Buffer.from([text.length, ...Buffer.from(text)]);
const longString = (text: string) => Buffer.concat([long(text.length), Buffer.from(text)]);

const FRAME_END = Buffer.from([0xce]);
const HEADER_BYTES = 8;

function method(channel: number, classId: number, methodId: number, ...values: Buffer[]): Buffer {
  const payload = Buffer.concat([short(classId), short(methodId), ...values]);
  return Buffer.concat([Buffer.from([1]), short(channel), long(payload.length), payload, FRAME_END]);
}

const start = method(0, 10, 10, Buffer.from([0, 9]), long(0), longString('PLAIN'), longString('en_US'));

const RESPONSES: Readonly<Record<AmqpMethod, (channel: number) => Buffer>> = {
  'connection.start-ok': () => method(0, 10, 30, short(100), long(131_072), short(10)),
  'connection.open': () => method(0, 10, 41, shortString('')),
  'connection.close': () => method(0, 10, 51),
  'channel.open': (channel) => method(channel, 20, 11, longString('')),
  'exchange.declare': (channel) => method(channel, 40, 11),
  'queue.declare': (channel) => method(channel, 50, 11, shortString('queue'), long(0), long(0)),
  'queue.bind': (channel) => method(channel, 50, 21),
  'basic.qos': (channel) => method(channel, 60, 11),
  'basic.consume': (channel) => method(channel, 60, 21, shortString('consumer')),
  'confirm.select': (channel) => method(channel, 85, 11),
};

/** What the broker does with a request: respond, drop the connection, or stay silent. */
export type AmqpReaction = 'respond' | 'drop' | 'ignore';

export interface FakeAmqp extends AsyncDisposable {
  readonly url: string;
  /** Connections that were made, those that ended among them. */
  readonly connections: number;
  /** Connections that are open now. */
  readonly open: number;
}

/** A broker that responds to a client's set-up as `react` says for each connection (from 1) and request. */
export async function openFakeAmqp(react: (connection: number, method: AmqpMethod) => AmqpReaction): Promise<FakeAmqp> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    serve(socket, (name) => react(connections, name));
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `amqp://user:password@127.0.0.1:${(server.address() as AddressInfo).port}/shop`,
    get connections() {
      return connections;
    },
    get open() {
      return sockets.size;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function serve(socket: Socket, react: (method: AmqpMethod) => AmqpReaction): void {
  let unread = Buffer.alloc(0);
  let isGreeted = false;
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    unread = Buffer.concat([unread, chunk]);
    if (!isGreeted && unread.length >= HEADER_BYTES) {
      isGreeted = true;
      unread = unread.subarray(HEADER_BYTES);
      socket.write(start);
    }
    for (let frame = readFrame(unread); isGreeted && frame !== undefined; frame = readFrame(unread)) {
      unread = unread.subarray(frame.bytes);
      if (frame.method === undefined) continue;
      const reaction = react(frame.method);
      if (reaction === 'drop') socket.destroy();
      if (reaction === 'respond') socket.write(RESPONSES[frame.method](frame.channel));
    }
  });
}

/** The first whole frame; `method` is undefined for what needs no response (heartbeats, tune-ok). */
function readFrame(bytes: Buffer): { bytes: number; channel: number; method: AmqpMethod | undefined } | undefined {
  if (bytes.length < 7) return undefined;
  const length = 7 + bytes.readUInt32BE(3) + FRAME_END.length;
  if (bytes.length < length) return undefined;
  const names = Object.keys(METHODS) as AmqpMethod[];
  const isMethod = bytes[0] === 1;
  const found = names.find(
    (name) => METHODS[name][0] === bytes.readUInt16BE(7) && METHODS[name][1] === bytes.readUInt16BE(9),
  );
  return { bytes: length, channel: bytes.readUInt16BE(1), method: isMethod ? found : undefined };
}
