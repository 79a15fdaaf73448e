import { setTimeout as delay } from 'node:timers/promises';
import { FULL_WEIGHT } from './fleet.ts';
import type { UpstreamState } from './state.ts';
import { type Route, type Share, type UpstreamsWriter, upstreamsOf } from './upstreams-file.ts';

export interface RoutingTableOptions {
  readonly writer: UpstreamsWriter;
  /** Until every caller has read the file again, ms. */
  readonly announceMs: number;
  /** What holds until an operator reverses it. */
  readonly overrides: () => { readonly draining: readonly string[]; readonly onStandby: readonly string[] };
  /** Of the replicas that do not share all calls equally. */
  readonly shares?: () => ReadonlyMap<string, Share>;
}

/** The component that has the proxies. */
const PROXIES = 'toxiproxy';

/**
 * What is announced to callers: the addresses that they may call. Invariants: R1: a replica that joins others is shown once it
 * has been ready, as are proxies that are added. R2: a replica that is replaced or removed while others serve is announced
 * as draining before it stops. R3: the file agrees with the table when `publish` has resolved.
 */
export class RoutingTable {
  readonly #options: RoutingTableOptions;
  #routes: readonly Route[] = [];
  readonly #joining = new Set<string>();
  readonly #leaving = new Set<string>();
  /** When callers last had something new to read, on the monotonic clock. */
  #writtenAt = Number.NEGATIVE_INFINITY;

  constructor(options: RoutingTableOptions) {
    this.#options = options;
  }

  /** Routes of a plan. Earlier ones are kept that `isKept` names: their replicas still run, or their callers do. */
  plan(routes: readonly Route[], isKept: (route: Route) => boolean): void {
    const planned = new Set(routes.map(keyOf));
    this.#routes = [...routes, ...this.#routes.filter((route) => !planned.has(keyOf(route)) && isKept(route))];
  }

  /** This replica, or the proxies, are shown once they have been ready. */
  join(instance: string): void {
    this.#joining.add(instance);
  }

  /** True where it was not shown before. */
  hasBeenReady(instance: string): boolean {
    return this.#joining.delete(instance);
  }

  /** It is announced as draining, until `settle` or `remove`. */
  leave(instance: string): void {
    this.#leaving.add(instance);
  }

  /** What was announced to leave has been replaced, or stays. Resolves when that is written down. */
  async settle(): Promise<void> {
    if (this.#leaving.size === 0) return;
    this.#leaving.clear();
    await this.publish();
  }

  /** It is gone. */
  remove(instance: string): void {
    this.#routes = this.#routes.filter((route) => route.instance !== instance);
    this.#joining.delete(instance);
    this.#leaving.delete(instance);
  }

  /** Names of the edges whose callers connect. */
  edges(): readonly string[] {
    return [...new Set(this.#routes.flatMap(({ edge, isDelivery }) => (isDelivery ? [] : [edge])))];
  }

  /** Whether the proxy that listens there is on this edge. */
  isOn(edge: string, listen: string): boolean {
    return this.#routes.some((route) => route.edge === edge && route.primary === listen);
  }

  /** Writes the table down. */
  async publish(): Promise<void> {
    const onStandby = new Set(this.#options.overrides().onStandby);
    const isOnStandby = (edge: string) => this.#joining.has(PROXIES) || onStandby.has(edge);
    const isNew = await this.#options.writer.write(
      upstreamsOf(this.#routes, {
        joining: this.#joining,
        draining: this.#draining(),
        isOnStandby,
        shares: this.#shares(),
      }),
    );
    if (isNew) this.#writtenAt = performance.now();
  }

  /** The same, and resolves when the callers have read it, also where it was written before. */
  async announce(): Promise<void> {
    await this.publish();
    const leftMs = this.#writtenAt + this.#options.announceMs - performance.now();
    if (leftMs > 0) await delay(leftMs);
  }

  /** What is announced of a replica; undefined where it has no callers, and no queue. */
  stateOf(instance: string): UpstreamState | undefined {
    if (!this.#routes.some((route) => route.instance === instance)) return undefined;
    if (this.#joining.has(instance)) return { state: 'joining', weight: 0 };
    const { weight = FULL_WEIGHT, track } = this.#shares().get(instance) ?? {};
    const isDraining = weight === 0 || this.#draining().has(instance);
    return { state: isDraining ? 'draining' : 'active', weight, ...(track !== undefined && { track }) };
  }

  #shares(): ReadonlyMap<string, Share> {
    return this.#options.shares?.() ?? new Map();
  }

  #draining(): ReadonlySet<string> {
    return new Set([...this.#leaving, ...this.#options.overrides().draining]);
  }
}

function keyOf({ edge, instance = '' }: Route): string {
  return `${edge} ${instance}`;
}
