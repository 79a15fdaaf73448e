import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { type Track, tracks } from './release.ts';

/** Version of the format. A reader refuses any other; new fields that a reader may ignore do not change it. */
export const UPSTREAMS_VERSION = 1;

const STATES = ['active', 'draining'] as const;

/** One address that the caller of an edge connects to. */
export interface Upstream {
  /** `host:port`. */
  readonly address: string;
  /** The instance behind it. */
  readonly instance?: string;
  /** What it runs. */
  readonly version?: string;
  /** Its share of the calls is its weight divided by the sum. With 0 it is sent calls only where no other is left. */
  readonly weight: number;
  readonly track: Track;
  /** One that drains is sent no calls while another is active. */
  readonly state: (typeof STATES)[number];
}

/** What is assumed of an address. */
const defaults = { weight: 100, track: 'stable', state: 'active' } as const;

/** What the file says of one address. */
export const UpstreamSchema = Type.Object({
  address: Type.String({
    pattern: '^[A-Za-z0-9._-]+:\\d{1,5}$',
    description: '`host:port` to connect to; required',
  }),
  instance: Type.Optional(
    Type.String({ pattern: '^[a-z0-9-]{1,40}$', description: 'the instance behind the address' }),
  ),
  version: Type.Optional(
    Type.String({ pattern: '^[0-9A-Za-z.+-]{1,100}$', description: 'the version that it runs, for metrics' }),
  ),
  weight: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000,
      default: defaults.weight,
      description: 'its share of the calls is its weight divided by the sum; with 0 only where no other is left',
    }),
  ),
  track: Type.Optional(
    Type.Enum([...tracks], { default: defaults.track, description: 'the group of instances that it belongs to' }),
  ),
  state: Type.Optional(
    Type.Enum([...STATES], {
      default: defaults.state,
      description: 'one that is `draining` is sent no calls while another is active',
    }),
  ),
});

/** The file that `UPSTREAMS_FILE` names. It holds no secrets. Unknown fields pass: it may be newer than its reader. */
const UpstreamsSchema = Type.Object({
  version: Type.Literal(UPSTREAMS_VERSION),
  edges: Type.Record(Type.String(), Type.Array(UpstreamSchema, { minItems: 1 })),
});

/** Where the caller of each edge connects, by the edge's name. An edge that is not there keeps its start value. */
export interface Upstreams {
  readonly version: typeof UPSTREAMS_VERSION;
  readonly edges: Readonly<Record<string, readonly Upstream[]>>;
}

/** What stands for an address of which nothing else is known, as in the environment. */
export function upstreamAt(address: string): Upstream {
  return { address, ...defaults };
}

/** Edges to a database or to the broker, which are one server. */
const TO_ONE_SERVER = /-(db|broker)$/;

/**
 * The upstreams of a file's text, with defaults filled in. Throws TypeError with what is wrong and where, without values: a
 * URL with a password may stand where an address belongs.
 */
export function parseUpstreams(text: string): Upstreams {
  const given = parseJson(text);
  if (!Value.Check(UpstreamsSchema, given)) {
    const [error] = Value.Errors(UpstreamsSchema, given);
    throw new TypeError(`${error?.instancePath || 'the file'} ${error?.message}`);
  }
  const edges = Object.entries(given.edges).map(([edge, entries]): [string, Upstream[]] => {
    const upstreams = entries.map((entry) => ({ ...defaults, ...entry }));
    checkEdge(edge, upstreams);
    return [edge, upstreams];
  });
  return { version: given.version, edges: Object.fromEntries(edges) };
}

/** The parser's message quotes the text. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new TypeError('the file is not JSON');
  }
}

function checkEdge(edge: string, upstreams: readonly Upstream[]): void {
  const addresses = upstreams.map(({ address }) => address);
  if (new Set(addresses).size < addresses.length) throw new TypeError(`/edges/${edge} must not have an address twice`);
  if (!addresses.every(isAddress)) throw new TypeError(`/edges/${edge} must have addresses with a host and a port`);
  if (TO_ONE_SERVER.test(edge) && upstreams.length > 1) throw new TypeError(`/edges/${edge} must have one address`);
}

/** A URL can be made of it, and no port is 0. */
const isAddress = (address: string) => URL.canParse(`http://${address}`) && Number(address.split(':')[1]) > 0;
