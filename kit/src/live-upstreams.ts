import { existsSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { messageOf } from './failures.ts';
import { followFile } from './follow-file.ts';
import type { Logger } from './logger.ts';
import { parseUpstreams, type Upstream, type Upstreams } from './upstreams.ts';

/** Where the caller of one edge connects, as the file of upstreams says. */
export interface EdgeUpstreams {
  /** One at least. Undefined where the file does not name the edge: the addresses of the environment hold. */
  readonly current: readonly Upstream[] | undefined;
  /** Calls `changed` after each change of `current`. */
  follow(changed: () => void): Disposable;
}

/** The upstreams of a process. */
export interface LiveUpstreams extends Disposable {
  /** Those of the edge with this name, as `orders-payments`. */
  edge(name: string): EdgeUpstreams;
}

/** Of a caller whose addresses do not change. */
export const fixedUpstreams: EdgeUpstreams = {
  current: undefined,
  follow: () => ({ [Symbol.dispose]() {} }),
};

/**
 * The upstreams of a file, read again when it changes. Without a file, and for an edge that is not in it, the addresses of
 * the environment hold. A file that cannot be read changes nothing and is logged.
 */
export function openUpstreams(file: string | undefined, logger: Logger): LiveUpstreams {
  let edges: Upstreams['edges'] = {};
  const followers = new Map<string, Set<() => void>>();

  function load(path: string): void {
    try {
      const before = edges;
      edges = existsSync(path) ? parseUpstreams(readFileSync(path, 'utf8')).edges : {};
      for (const [edge, changed] of followers) {
        if (isDeepStrictEqual(before[edge], edges[edge])) continue;
        logger.info({ edge, upstreams: edges[edge] ?? 'as in the environment' }, 'the upstreams of an edge changed');
        for (const one of changed) one();
      }
    } catch (error) {
      logger.warn({ reason: messageOf(error) }, 'the upstreams stay as they were');
    }
  }

  if (file !== undefined) load(file);
  const followed = file === undefined ? undefined : followFile(file, () => load(file));
  return {
    edge: (name) => ({
      get current() {
        return edges[name];
      },
      follow(changed) {
        const own = followers.get(name) ?? new Set();
        followers.set(name, own.add(changed));
        return { [Symbol.dispose]: () => void own.delete(changed) };
      },
    }),
    [Symbol.dispose]: () => followed?.[Symbol.dispose](),
  };
}

/** `url` at the address of its edge. Nothing else of it changes. */
export function urlAt(url: string, { current }: EdgeUpstreams): string {
  const upstream = current?.[0];
  if (upstream === undefined) return url;
  const moved = new URL(url);
  if (moved.host === upstream.address) return url;
  moved.host = upstream.address;
  return moved.href;
}
