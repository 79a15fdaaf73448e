import { messageOf } from '../errors.ts';
import type { EdgeState } from './state.ts';

/**
 * Makes Toxiproxy hold exactly these proxies, enabled. A proxy that is there already with the same addresses keeps its
 * connections and its toxics. Throws with Toxiproxy's own words when it refuses.
 */
async function populateProxies(apiUrl: string, edges: readonly EdgeState[]): Promise<void> {
  const proxies = edges.map(({ name, listen, upstream }) => ({ name, listen, upstream, enabled: true }));
  const response = await ask(apiUrl, '/populate', { method: 'POST', body: JSON.stringify(proxies) });
  if (!response.ok) throw new Error(`Toxiproxy refused the proxies (${response.status}): ${await response.text()}`);
}

async function removeProxy(apiUrl: string, name: string): Promise<void> {
  const response = await ask(apiUrl, `/proxies/${name}`, { method: 'DELETE' });
  if (!response.ok && response.status !== 404)
    throw new Error(`Toxiproxy did not remove ${name} (${response.status}): ${await response.text()}`);
}

async function ask(apiUrl: string, path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(`${apiUrl}${path}`, { ...init, signal: AbortSignal.timeout(5000) });
  } catch (cause) {
    throw new Error(`Toxiproxy at ${apiUrl}: ${messageOf(cause)}`, { cause });
  }
}

/** Keeps Toxiproxy's proxies as the plans want them. */
export interface ProxyReconciler {
  /** Adds edges to those wanted; one of the same name replaces the earlier one. */
  want(apiUrl: string, edges: readonly EdgeState[]): void;
  /** Creates what is missing. Does nothing when nothing has changed, unless Toxiproxy has started again: then it `isEmpty`. */
  populate(options: { isEmpty: boolean }): Promise<void>;
  /** Removes proxies, whose connections end; one that is not there is not an error. */
  remove(names: readonly string[]): Promise<void>;
}

export function createProxyReconciler(): ProxyReconciler {
  const wanted = new Map<string, EdgeState>();
  let url = '';
  let done: { key: string; work: Promise<void> } | undefined;
  return {
    want(apiUrl, edges) {
      url = apiUrl;
      for (const edge of edges) wanted.set(edge.name, edge);
    },
    populate({ isEmpty }) {
      const key = JSON.stringify([url, ...wanted.values()]);
      if (isEmpty || done?.key !== key) {
        const work = populateProxies(url, [...wanted.values()]);
        done = { key, work };
        // A failed attempt must not be taken for a success by the next caller.
        work.catch(() => {
          if (done?.work === work) done = undefined;
        });
      }
      return done?.work ?? Promise.resolve();
    },
    async remove(names) {
      const known = names.filter((name) => wanted.delete(name));
      // One that is wanted again later is missing then, although the same was wanted before.
      if (known.length > 0) done = undefined;
      await Promise.all(known.map((name) => removeProxy(url, name)));
    },
  };
}
