/**
 * Contracts over gRPC: pairs of a request and what the consumer reads of its response. They are recorded with the
 * consumer's real client as the bytes on the wire, beside the consumer's own copy of the schema. Pact needs a plugin
 * for gRPC that npm does not have (decision 0016).
 */
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MethodDefinition, Server, ServerUnaryCall, ServiceDefinition, sendUnaryData } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { grpc, loadProto, locate } from '@shop/kit/grpc.ts';
import { expect } from 'vitest';

const grpcDir = join(import.meta.dirname, '../../contracts/grpc');

/** As `loadProto` reads it, so that both sides see the same names and defaults. */
const HOW = { keepCase: false, longs: Number, enums: String, defaults: true, arrays: true } as const;

interface Pair {
  readonly description: string;
  /** The state that the provider must be in. */
  readonly given: string;
  /** `/stock.Inventory/Reserve`. */
  readonly method: string;
  /** What was sent, readable and as bytes in base64. */
  readonly request: { readonly orderId: string };
  readonly requestBytes: string;
  /** The fields of the response that the consumer reads. */
  readonly response: Readonly<Record<string, unknown>>;
}

interface Contract {
  readonly consumer: string;
  readonly provider: string;
  readonly pairs: readonly Pair[];
}

export interface GrpcRecording extends AsyncDisposable {
  readonly address: string;
  /** The next call gets this response, and is recorded. */
  next(expectation: Pick<Pair, 'description' | 'given' | 'response'>): void;
  /** Compares what was recorded with the committed contract; `npm run generate` writes it. */
  expectCommitted(): Promise<void>;
}

/** A provider that sends configured responses and records its requests. */
export async function recordGrpc(consumer: string, provider: string, service: string): Promise<GrpcRecording> {
  const protoFile = `${provider}.proto`;
  const definition = loadProto(protoFile)[service] as ServiceDefinition;
  const pairs: Pair[] = [];
  let expected: Pick<Pair, 'description' | 'given' | 'response'> | undefined;

  function handlerOf(method: MethodDefinition<object, object>) {
    return (call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>) => {
      if (expected === undefined) return callback({ code: grpc.status.UNIMPLEMENTED, details: 'nothing is expected' });
      const request = method.requestDeserialize(call.request) as Pair['request'];
      pairs.push({ ...expected, method: method.path, request, requestBytes: call.request.toString('base64') });
      const { response } = expected;
      expected = undefined;
      return callback(null, method.responseSerialize(response));
    };
  }

  const server = new grpc.Server();
  server.addService(
    asBytes(definition),
    Object.fromEntries(
      Object.entries(definition).map(([name, method]) => [name, handlerOf(method as MethodDefinition<object, object>)]),
    ),
  );
  const port = await bind(server);
  const name = join(grpcDir, `${consumer}-${provider}`);
  return {
    address: `127.0.0.1:${port}`,
    next(expectation) {
      expected = expectation;
    },
    async expectCommitted() {
      const contract: Contract = { consumer, provider, pairs };
      await expect(`${JSON.stringify(contract, null, 2)}\n`).toMatchFileSnapshot(`${name}.json`);
      await expect(await readFile(locate(protoFile), 'utf8')).toMatchFileSnapshot(`${name}.proto`);
    },
    async [Symbol.asyncDispose]() {
      server.forceShutdown();
    },
  };
}

/** The same methods with their messages left as bytes. */
function asBytes(definition: ServiceDefinition): ServiceDefinition {
  const same = (bytes: Buffer) => bytes;
  return Object.fromEntries(
    Object.entries(definition).map(([name, method]) => [
      name,
      { ...method, requestDeserialize: same, responseSerialize: same },
    ]),
  );
}

function bind(server: Server): Promise<number> {
  return new Promise((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve(port) : reject(error),
    ),
  );
}

/** Consumers that have recorded a contract with a provider; each must be verified. */
export function grpcConsumersOf(provider: string): readonly string[] {
  const ending = `-${provider}.json`;
  return readdirSync(grpcDir)
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length));
}

/** Brings a provider into the state that a pair names, for its order. */
export type GrpcStates = Readonly<Record<string, (orderId: string) => Promise<unknown>>>;

/**
 * Sends every recorded request of a consumer to a provider as the bytes it was. Resolves with the responses that the
 * consumer would read otherwise than it recorded, one sentence each.
 */
export async function breaksOfGrpc(
  { consumer, provider, service }: { consumer: string; provider: string; service: string },
  address: string,
  states: GrpcStates,
): Promise<readonly string[]> {
  const name = join(grpcDir, `${consumer}-${provider}`);
  const { pairs } = JSON.parse(await readFile(`${name}.json`, 'utf8')) as Contract;
  const client = new grpc.Client(address, grpc.credentials.createInsecure());
  const definition = consumersDefinition(`${name}.proto`, service);
  try {
    const breaks: string[] = [];
    for (const pair of pairs) {
      const state = states[pair.given];
      if (state === undefined) throw new Error(`${pair.description}: there is no state handler for "${pair.given}"`);
      await state(pair.request.orderId);
      const method = Object.values(definition).find(({ path }) => path === pair.method);
      if (method === undefined) throw new Error(`${name}.proto has no ${pair.method}`);
      const difference = await differenceIn(client, method as MethodDefinition<object, object>, pair);
      if (difference !== undefined) breaks.push(`${pair.description}: ${difference}`);
    }
    return breaks;
  } finally {
    client.close();
  }
}

/** The consumer's copy of the schema, whatever the provider has now. */
function consumersDefinition(file: string, service: string): ServiceDefinition {
  return loadSync(file, HOW)[service] as ServiceDefinition;
}

async function differenceIn(
  client: InstanceType<typeof grpc.Client>,
  method: MethodDefinition<object, object>,
  pair: Pair,
): Promise<string | undefined> {
  const sent = Buffer.from(pair.requestBytes, 'base64');
  const same = (bytes: Buffer) => bytes;
  const received = await new Promise<Buffer | Error>((resolve) => {
    const options = { deadline: Date.now() + 5_000 };
    client.makeUnaryRequest<Buffer, Buffer>(pair.method, same, same, sent, options, (error, bytes) =>
      resolve(error ?? (bytes as Buffer)),
    );
  });
  if (received instanceof Error) return received.message;
  const read = method.responseDeserialize(received) as Record<string, unknown>;
  const other = Object.entries(pair.response).filter(([field, value]) => !equal(read[field], value));
  return other.length === 0
    ? undefined
    : other
        .map(([field, value]) => `${field} is ${JSON.stringify(read[field])}, not ${JSON.stringify(value)}`)
        .join(', ');
}

function equal(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}
