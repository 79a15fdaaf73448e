import { CliError } from '../errors.ts';
import { waitUntil } from '../shared/wait-until.ts';
import { edges } from '../topology/services.ts';
import { type CanaryResult, canary, describeCanary, type Protocol } from './canary.ts';
import type { PlatformAccess } from './platform-access.ts';
import { ToxiproxyRequestError } from './toxiproxy-client.ts';

/** An edge as an undo record holds it. */
export interface EdgeRecord {
  readonly apiUrl: string;
  readonly proxy: string;
  readonly listen: string;
  readonly upstream: string;
  readonly protocol: Protocol;
  /** What a canary experienced before the fault. */
  readonly before: CanaryResult;
}

/** How long a canary may take on an edge without a fault, ms: before one, the first on a busy machine is late. */
const BEFORE_LIMIT_MS = 3_000;
const AFTER_LIMIT_MS = 1_000;
const BEFORE_LOOKS = 3;
/** How long an edge may take to serve again once the fault is reverted, ms. */
const BACK_LIMIT_MS = 3_000;

/** The edge as it is now. Throws CliError (3) when the services are wired without proxies. */
export async function recordEdge(name: string, platform: PlatformAccess): Promise<EdgeRecord> {
  const state = platform.state();
  const edge = state?.edges.find((one) => one.name === name);
  if (!edge || state?.toxiproxyUrl === undefined) {
    throw new CliError({
      code: 'fault_unavailable',
      what: `no proxy on ${name}`,
      why: 'the services are wired directly',
      next: 'run "shopctl setup", which installs Toxiproxy, then "shopctl up" (without --direct)',
    });
  }
  if (edge.via === 'standby') {
    const rerouted = edges.find(({ from, to }) => from === edge.from && to === edge.to)?.name ?? name;
    throw new CliError({
      code: 'edge_rerouted',
      what: `a fault on ${name} would have no effect`,
      why: `${rerouted} is rerouted: its callers pass by the proxy`,
      next: `run "shopctl reroute ${rerouted} --via primary" first`,
    });
  }
  const protocol = protocolOf(edge.to);
  return {
    apiUrl: state.toxiproxyUrl,
    proxy: name,
    listen: edge.listen,
    upstream: edge.upstream,
    protocol,
    before: await quickestOf(BEFORE_LOOKS, () => canary(edge.listen, protocol, { limitMs: BEFORE_LIMIT_MS })),
  };
}

/** The edge's own latency is the shortest of several measurements. The first failure is the result. */
async function quickestOf(looks: number, look: () => Promise<CanaryResult>): Promise<CanaryResult> {
  let quickest = await look();
  for (let next = 1; next < looks && quickest.ended === 'responded'; next++) {
    const result = await look();
    if (result.ended !== 'responded' || result.tookMs < quickest.tookMs) quickest = result;
  }
  return quickest;
}

function protocolOf(to: string): Protocol {
  if (to === 'postgres') return 'postgres';
  if (to === 'rabbitmq') return 'amqp';
  return to === 'stock' ? 'grpc' : 'http';
}

/**
 * Reverts a change through Toxiproxy's API. A server that hangs is restarted by the supervisor, which recreates its proxies
 * without toxics. A server that has ended has no toxics.
 */
export async function revertOnEdge(
  { apiUrl }: EdgeRecord,
  platform: PlatformAccess,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof ToxiproxyRequestError)) throw error;
    if (error.status === 404 || (error.status === undefined && !error.timedOut)) return;
    if (!error.timedOut || !platform.isLive) throw error;
    await platform.act('toxiproxy', 'restart');
    await platform.toxiproxy(apiUrl).version();
  }
}

/** Evidence that an edge serves again; throws with what a canary experiences while it does not. */
export async function verifyEdge(
  edge: EdgeRecord,
  platform: PlatformAccess,
  isGone: () => Promise<boolean>,
): Promise<string> {
  try {
    if (!(await isGone())) throw new Error(`Toxiproxy still holds the fault on ${edge.proxy}`);
  } catch (error) {
    const hasEnded = error instanceof ToxiproxyRequestError && error.status === undefined && !error.timedOut;
    if (hasEnded && !platform.isLive) return 'Toxiproxy has ended, and the fault with it';
    if (!hasEnded && !(error instanceof ToxiproxyRequestError && error.status === 404)) throw error;
  }
  let last: CanaryResult | undefined;
  try {
    return await waitUntil(`${edge.proxy} to serve again`, BACK_LIMIT_MS, async () => {
      last = await canary(edge.listen, edge.protocol, { limitMs: AFTER_LIMIT_MS });
      return last.ended === 'responded' ? `a canary through ${edge.proxy} was ${describeCanary(last)}` : undefined;
    });
  } catch (error) {
    const other = await otherReason(edge, platform);
    if (other !== undefined) return `the fault is gone from Toxiproxy; ${edge.proxy} does not serve because ${other}`;
    throw new Error(`${(error as Error).message}; a canary was ${last ? describeCanary(last) : 'not sent'}`);
  }
}

/** Why the edge does not serve although this fault is gone, if it is something else. */
async function otherReason(
  { apiUrl, proxy, upstream, protocol }: EdgeRecord,
  platform: PlatformAccess,
): Promise<string | undefined> {
  const direct = await canary(upstream, protocol, { limitMs: AFTER_LIMIT_MS });
  if (direct.ended !== 'responded') return `what is behind it does not serve (${describeCanary(direct)})`;
  const { enabled, toxics } = await platform.toxiproxy(apiUrl).proxy(proxy);
  if (!enabled) return 'another fault holds it down';
  return toxics.length > 0 ? `other faults act on it (${toxics.map(({ name }) => name).join(', ')})` : undefined;
}
