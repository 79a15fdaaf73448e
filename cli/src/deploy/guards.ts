import { messageOf } from '../errors.ts';
import type { MetricPoint } from '../otlp/metric-store.ts';
import type { EdgeState, InstanceState, PlatformState } from '../platform/state.ts';
import type { Guards } from './engine.ts';
import { deadLettersIn, QUEUE_MESSAGES } from './observe/dead-letters.ts';
import { tripped, unobserved } from './trip.ts';

export interface GuardDeps {
  state(): Pick<PlatformState, 'instances' | 'edges'>;
  /** Latest points of these names. */
  metrics(names: readonly string[]): Promise<readonly MetricPoint[]>;
  readonly now: () => number;
}

/** How long a new instance may be not ready before it is taken for broken, ms. */
const UNREADY_MS = 2_000;
/** Attempts that may get no response: a kept connection may be closed in the moment in which it is used (decision 0093). */
const LOST_ATTEMPTS = 2;

const NAMES = [QUEUE_MESSAGES, 'http.client.request.duration', 'rpc.client.call.duration'];

/** For how long the metrics may not be readable: one connection may break, or the machine be busy. In ms. */
const BLIND_MS = 10_000;

/** What is counted up, at one moment. */
interface Counts {
  /** Undefined while the broker does not say. */
  readonly deadLetters: number | undefined;
  /** Connections of calls that broke, by the port that was called: a port may have had another process before. */
  readonly lost: ReadonlyMap<number, number>;
}

/**
 * What a release must not do while it is deployed: end without being asked to, be not ready, add dead letters, break the connections
 * of calls.
 */
export function createGuards({ state, metrics, now }: GuardDeps): Guards {
  let service = '';
  let before: Counts | undefined;
  let hasSeenDeadLetters = false;
  let crashesBefore = new Map<string, number>();
  const unreadySince = new Map<string, number>();
  let blindSince: number | undefined;

  /** Undefined where they cannot be read now. Rejects with Trip where that has lasted too long. */
  async function countsOrNothing(): Promise<Counts | undefined> {
    try {
      const found = await counts();
      blindSince = undefined;
      return found;
    } catch (error) {
      blindSince ??= now();
      if (now() - blindSince >= BLIND_MS)
        throw unobserved(`the metrics could not be read for ${BLIND_MS / 1_000} s: ${messageOf(error)}`);
      return undefined;
    }
  }

  async function counts(): Promise<Counts> {
    const points = await metrics(NAMES);
    return { deadLetters: deadLettersIn(points), lost: lostIn(points) };
  }

  function checkInstance(instance: InstanceState): void {
    const { name, status, reason = 'no reason is known', crashes = 0 } = instance;
    const known = crashesBefore.get(name) ?? 0;
    if (crashes > known || status === 'failed')
      throw tripped('exit', `${name} ended without being asked to: ${reason}`);
    if (status !== 'unready') return void unreadySince.delete(name);
    const since = unreadySince.get(name) ?? now();
    unreadySince.set(name, since);
    if (now() - since >= UNREADY_MS) throw tripped('not-ready', `${name} is not ready any more: ${reason}`);
  }

  return {
    async begin(name) {
      service = name;
      blindSince = undefined;
      unreadySince.clear();
      crashesBefore = new Map(state().instances.map((one) => [one.name, one.crashes ?? 0]));
      before = await counts();
      hasSeenDeadLetters = before.deadLetters !== undefined;
    },
    async check(instances) {
      for (const instance of state().instances) if (instances.includes(instance.name)) checkInstance(instance);
      if (before === undefined) return;
      const found = await countsOrNothing();
      if (found === undefined) return;
      const { deadLetters, lost } = found;
      hasSeenDeadLetters ||= deadLetters !== undefined;
      const added = (deadLetters ?? 0) - (before.deadLetters ?? 0);
      if (added > 0) throw tripped('dead-letters', `dead letters added: ${added}`);
      const broken = [...portsOf(service, state())]
        .map((port) => (lost.get(port) ?? 0) - (before?.lost.get(port) ?? 0))
        .reduce((sum, count) => sum + count, 0);
      if (broken > LOST_ATTEMPTS) throw tripped('attempts', `the connections of ${broken} calls of ${service} broke`);
    },
    async conclude() {
      if (blindSince !== undefined && (await countsOrNothing()) === undefined)
        throw unobserved('the metrics could not be read at the end of the deploy');
      const hasBroker = state().instances.some(({ name }) => name === 'rabbitmq');
      if (hasBroker && !hasSeenDeadLetters) throw unobserved('the number of dead letters was never known');
    },
  };
}

/** Where callers of a service connect. */
function portsOf(
  service: string,
  { edges, instances }: Pick<PlatformState, 'instances' | 'edges'>,
): ReadonlySet<number> {
  const proxies = edges
    .filter(({ to }) => to === service)
    .flatMap(({ listen, upstream }: EdgeState) => [listen, upstream]);
  const own = instances.filter((one) => one.service === service).map(({ ports }) => ports.main);
  return new Set([
    ...proxies.map((address) => Number(address.split(':').at(-1))),
    ...own.filter((port) => port !== undefined),
  ]);
}

function lostIn(points: readonly MetricPoint[]): ReadonlyMap<number, number> {
  const lost = new Map<number, number>();
  for (const point of points) {
    const port = Number(point.attributes['server.port']);
    if (point.type !== 'histogram' || !isBroken(String(point.attributes['error.type'] ?? ''))) continue;
    lost.set(port, (lost.get(port) ?? 0) + point.count);
  }
  return lost;
}

/**
 * Errors of connections: a status is a response, and a call that was out of time may have waited for the machine. Codes are
 * those of Node, of undici and of gRPC.
 */
function isBroken(error: string): boolean {
  return /^(ECONN|EPIPE|UND_ERR_SOCKET|UNAVAILABLE$)/.test(error);
}
