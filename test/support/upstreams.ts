import type { EdgeUpstreams } from '@shop/kit/live-upstreams.ts';
import { type Upstream, upstreamAt } from '@shop/kit/upstreams.ts';

/** Upstreams of one edge that a test changes; at the start those of the environment hold. */
export function someUpstreams() {
  let current: readonly Upstream[] | undefined;
  const followers = new Set<() => void>();
  const edge: EdgeUpstreams = {
    get current() {
      return current;
    },
    follow(changed) {
      followers.add(changed);
      return { [Symbol.dispose]: () => void followers.delete(changed) };
    },
  };
  /** From now on these; those of the environment again where there are none. */
  const set = (...upstreams: (Partial<Upstream> & { readonly address: string })[]) => {
    current = upstreams.length === 0 ? undefined : upstreams.map((one) => ({ ...upstreamAt(one.address), ...one }));
    for (const changed of followers) changed();
  };
  return { edge, set, followers };
}
