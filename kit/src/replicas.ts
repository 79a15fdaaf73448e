import { type EdgeUpstreams, fixedUpstreams } from './live-upstreams.ts';
import type { Placed, Replica } from './replica-picker.ts';
import { upstreamAt } from './upstreams.ts';

/** The replicas of an edge, which its upstreams may change at any time. */
export interface Replicas<R> extends AsyncDisposable {
  /** Those that calls are sent to, one at least. */
  readonly all: readonly Placed<R>[];
  /** Calls `changed` after each change of `all`. */
  follow(changed: () => void): Disposable;
  /** One call to the replica: one that is removed meanwhile closes after it. */
  use<T>(replica: R, call: () => Promise<T>): Promise<T>;
}

export interface ReplicasOptions<R> {
  /** `host:port` of each, where the upstreams say nothing else. */
  readonly addresses: readonly string[];
  readonly upstreams?: EdgeUpstreams | undefined;
  open(address: string): R;
}

/** Opens the replicas of an edge and follows its upstreams. One whose address stays keeps its connections. */
export function openReplicas<R extends Replica & AsyncDisposable>(options: ReplicasOptions<R>): Replicas<R> {
  const { addresses, upstreams = fixedUpstreams, open } = options;
  if (addresses.length === 0) throw new RangeError('there are no addresses');
  const start = addresses.map(upstreamAt);
  const followers = new Set<() => void>();
  /** Calls in flight. */
  const inFlight = new Map<R, number>();
  const closed = new WeakSet<R>();
  const closing = new Set<PromiseLike<void>>();
  let byAddress: ReadonlyMap<string, Placed<R>> = new Map();
  let all: readonly Placed<R>[] = [];

  function update(): void {
    const placed = (upstreams.current ?? start).map(
      ({ address, version, weight, track, state }): [string, Placed<R>] => [
        address,
        { replica: byAddress.get(address)?.replica ?? open(address), version, weight, track, state },
      ],
    );
    byAddress = new Map(placed);
    all = [...byAddress.values()];
  }

  const isOne = (replica: R) => all.some((one) => one.replica === replica);

  function close(replica: R): void {
    if (closed.has(replica)) return;
    closed.add(replica);
    const end = replica[Symbol.asyncDispose]();
    closing.add(end);
    end.then(
      () => closing.delete(end),
      // Reported by the end of all.
      () => undefined,
    );
  }

  update();
  const followed = upstreams.follow(() => {
    const before = all;
    update();
    for (const changed of followers) changed();
    for (const { replica } of before) if (!isOne(replica) && !inFlight.has(replica)) close(replica);
  });

  return {
    get all() {
      return all;
    },
    follow(changed) {
      followers.add(changed);
      return { [Symbol.dispose]: () => void followers.delete(changed) };
    },
    async use(replica, call) {
      inFlight.set(replica, (inFlight.get(replica) ?? 0) + 1);
      try {
        return await call();
      } finally {
        const left = (inFlight.get(replica) ?? 1) - 1;
        if (left > 0) inFlight.set(replica, left);
        else inFlight.delete(replica);
        if (left === 0 && !isOne(replica)) close(replica);
      }
    },
    async [Symbol.asyncDispose]() {
      followed[Symbol.dispose]();
      for (const { replica } of all) close(replica);
      for (const replica of inFlight.keys()) close(replica);
      await Promise.all(closing);
    },
  };
}

/** Replicas that stay as they are; who opened them closes them. */
export function fixedReplicas<R extends Replica>(replicas: readonly R[]): Replicas<R> {
  return {
    all: replicas.map((replica) => ({ ...upstreamAt(replica.address), replica })),
    follow: fixedUpstreams.follow,
    use: (_replica, call) => call(),
    async [Symbol.asyncDispose]() {},
  };
}
