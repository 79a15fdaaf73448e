import { join } from 'node:path';
import type { Track } from '@shop/kit/release.ts';
import { UPSTREAMS_VERSION, type Upstream, type Upstreams, upstreamAt } from '@shop/kit/upstreams.ts';
import type { Project } from './project.ts';
import { writeSharedFile } from './shared-file.ts';

/** A separate folder, because a container sees a file that is replaced only when it is given the folder. */
export function upstreamsFolder({ stateDir }: Pick<Project, 'stateDir'>): string {
  return join(stateDir, 'upstreams');
}

/** The file in which running services look for the addresses of what they call. */
export function upstreamsFile(folder: string): string {
  return join(folder, 'upstreams.json');
}

/** A way from a caller to one replica of what it calls, or to a component. Addresses are `host:port`. */
export interface Route {
  /** Name of the edge: `gateway-orders`. */
  readonly edge: string;
  /** The replica; absent for a component. */
  readonly instance?: string;
  /** The proxy of the edge, or the target itself where there are no proxies. */
  readonly primary: string;
  /** The target itself. */
  readonly standby: string;
  /** Messages of a queue take this way: the replica fetches them, nothing connects to it. */
  readonly isDelivery?: true;
}

/** What callers are to do with the routes. */
export interface Routing {
  /** Replicas that are not shown to callers, because they have not been ready yet. */
  readonly joining: ReadonlySet<string>;
  /** Replicas that get no new work. */
  readonly draining: ReadonlySet<string>;
  /** Whether the callers of an edge pass by its proxy. */
  isOnStandby(edge: string): boolean;
  /** Of the replicas that do not share all calls equally. */
  readonly shares?: ReadonlyMap<string, Share>;
}

/** The place of a replica among the others. */
export interface Share {
  readonly track: Track;
  /** What it runs, where that is not what the clone has built. */
  readonly version?: string;
  /** With 0 it gets no new work but of requests that name its track. */
  readonly weight: number;
}

/**
 * What is announced to the callers of each edge. Left out are edges of which no replica is to be shown, or where the
 * format cannot hold an address (IPv6): its callers keep the addresses of their start. Pure.
 */
export function upstreamsOf(routes: readonly Route[], routing: Routing): Upstreams {
  const { joining, draining, isOnStandby, shares = new Map<string, Share>() } = routing;
  const isHeld = (instance: string) => shares.get(instance)?.weight === 0;
  const shown = routes.filter(({ instance, isDelivery }) => {
    if (instance === undefined) return true;
    // One that is to take no messages has to read it before it could take any.
    if (isDelivery && isHeld(instance)) return true;
    // Requests that name its track would go on to reach one that drains.
    return !joining.has(instance) && !(draining.has(instance) && isHeld(instance));
  });
  const entries = [...Map.groupBy(shown, ({ edge }) => edge)].map(([edge, all]): [string, readonly Upstream[]] => [
    edge,
    all.map(({ instance, primary, standby }) => ({
      ...upstreamAt(isOnStandby(edge) ? standby : primary),
      ...(instance !== undefined && { instance, ...shares.get(instance) }),
      state: instance !== undefined && (draining.has(instance) || isHeld(instance)) ? 'draining' : 'active',
    })),
  ]);
  const writable = entries.filter(([, all]) => all.every(({ address }) => /^[\w.-]+:\d+$/.test(address)));
  return { version: UPSTREAMS_VERSION, edges: Object.fromEntries(writable) };
}

/** Writes the file when it would be another one; one write at a time, in the order of the calls. */
export interface UpstreamsWriter {
  /** Resolves with whether callers have something new to read. */
  write(upstreams: Upstreams): Promise<boolean>;
}

export function createUpstreamsWriter(file: string): UpstreamsWriter {
  let written: string | undefined;
  let writing: Promise<unknown> = Promise.resolve();
  return {
    write(upstreams) {
      const text = `${JSON.stringify(upstreams, undefined, 1)}\n`;
      const result = writing.then(async () => {
        if (text === written) return false;
        await writeSharedFile(file, text);
        written = text;
        return true;
      });
      // The next write happens whether this one succeeded or not; its failure is reported to its caller.
      writing = result.catch(() => undefined);
      return result;
    },
  };
}
