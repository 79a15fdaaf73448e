import toxiproxyNodeClient from 'toxiproxy-node-client';
import { CliError, messageOf } from '../errors.ts';
import { checkParameters } from './parameters.ts';
import { type Toxic, toxicAttributes } from './toxics.ts';

/** A proxy with what acts on it. */
export interface ProxyState {
  readonly name: string;
  /** `host:port` where callers connect. */
  readonly listen: string;
  /** `host:port` behind it. */
  readonly upstream: string;
  readonly enabled: boolean;
  readonly toxics: readonly Toxic[];
}

/** All proxies at one moment, to be put back by `restore`. */
export type Snapshot = readonly ProxyState[];

/** Toxiproxy refused, or did not answer in time. */
export class ToxiproxyRefusal extends Error {
  override readonly name = 'ToxiproxyRefusal';
  /** HTTP status; undefined when there was no answer. */
  readonly status: number | undefined;
  /** No answer within the deadline although something listens: the server hangs, only a restart helps. */
  readonly hangs: boolean;

  constructor(
    message: string,
    { status, hangs = false, cause }: { status?: number; hangs?: boolean; cause?: unknown },
  ) {
    super(message, { cause });
    this.status = status;
    this.hangs = hangs;
  }
}

/** What we ask of a Toxiproxy. Every call rejects with ToxiproxyRefusal, at the latest after the deadline. */
export interface ToxiproxyClient {
  version(): Promise<string>;
  proxies(): Promise<Snapshot>;
  /** Rejects with status 404 when there is no such proxy. */
  proxy(name: string): Promise<ProxyState>;
  /** Throws CliError (2) for meaningless attributes before anything is sent. */
  addToxic(proxy: string, toxic: Toxic): Promise<void>;
  /** One that is gone already was what was wanted. */
  removeToxic(proxy: string, toxic: string): Promise<void>;
  /** Disabled, a proxy refuses connections and has closed those it held. Asking for what is so already does nothing. */
  setEnabled(proxy: string, isEnabled: boolean): Promise<void>;
  /** Makes proxies, their toxics and whether they are enabled exactly what the snapshot says. */
  restore(snapshot: Snapshot): Promise<void>;
}

/** Longest wait for an answer of the API, ms. Its own handlers give up after 25 s, far too late for an undo. */
const DEADLINE_MS = 3_000;

/** A client for the API at `url`, `http://127.0.0.1:8474`; connects on each call. */
export function createToxiproxyClient(url: string, { deadlineMs = DEADLINE_MS } = {}): ToxiproxyClient {
  const server = new toxiproxyNodeClient.Toxiproxy(url);
  // The library's own transport waits for ever, loses the server's message, and reads an empty answer as a failure.
  const transport = createTransport(url, deadlineMs);
  server.api = transport as unknown as typeof server.api;

  const proxies = async (): Promise<Snapshot> => {
    // Not getAll(): its Proxy drops the toxics.
    const { data } = await transport.get<Record<string, ProxyState>>(`${url}/proxies`);
    return Object.values(data);
  };
  const proxy = async (name: string) =>
    (await transport.get<ProxyState>(`${url}/proxies/${encodeURIComponent(name)}`)).data;
  const setEnabled = async (name: string, isEnabled: boolean) => {
    const now = await server.get(name);
    if (now.enabled === isEnabled) return;
    await now.update({ enabled: isEnabled, listen: now.listen, upstream: now.upstream });
  };
  const removeToxic = async (name: string, toxic: string) => {
    try {
      await transport.delete(`${url}/proxies/${encodeURIComponent(name)}/toxics/${encodeURIComponent(toxic)}`);
    } catch (error) {
      if (!(error instanceof ToxiproxyRefusal && error.status === 404)) throw error;
    }
  };
  const addToxic = async (name: string, toxic: Toxic) => {
    checkToxic(toxic);
    await (await server.get(name)).addToxic<Toxic['attributes']>({ ...toxic });
  };
  return {
    version: async () => (JSON.parse(await server.getVersion()) as { version: string }).version,
    proxies,
    proxy,
    addToxic,
    removeToxic,
    setEnabled,
    async restore(snapshot) {
      await server.populate(
        snapshot.map(({ name, listen, upstream, enabled }) => ({ name, listen, upstream, enabled })),
      );
      const present = new Map((await proxies()).map((one) => [one.name, one]));
      for (const wanted of snapshot) {
        const there = present.get(wanted.name)?.toxics ?? [];
        const isKept = (toxic: Toxic) => wanted.toxics.some((other) => isSame(other, toxic));
        for (const { name } of there.filter((toxic) => !isKept(toxic))) await removeToxic(wanted.name, name);
        // A disabled proxy takes toxics too; populate leaves one that exists as enabled as it was.
        const missing = wanted.toxics.filter((toxic) => !there.some((other) => isSame(other, toxic)));
        for (const toxic of missing) await addToxic(wanted.name, toxic);
        await setEnabled(wanted.name, wanted.enabled);
      }
    },
  };
}

/** Throws CliError (2) unless attributes and toxicity mean something. */
export function checkToxic({ type, attributes, toxicity }: Toxic): void {
  checkParameters(toxicAttributes[type], attributes, type);
  if (toxicity > 0 && toxicity <= 1) return;
  throw new CliError({
    what: `the toxicity of ${type} is ${toxicity}`,
    why: 'it is the share of connections that are affected',
    next: 'state a number above 0 and up to 1, or leave it out for 1',
    exitCode: 2,
  });
}

function isSame(one: Toxic, other: Toxic): boolean {
  const key = ({ name, type, stream, toxicity, attributes }: Toxic) =>
    JSON.stringify([name, type, stream, toxicity, Object.entries(attributes).sort()]);
  return key(one) === key(other);
}

interface Transport {
  get<T>(url: string): Promise<{ data: T }>;
  post<T>(url: string, body?: unknown): Promise<{ data: T }>;
  delete(url: string): Promise<void>;
  getText(url: string): Promise<string>;
}

/** What the library's HttpClient does, with a deadline and the server's own words in errors. */
function createTransport(host: string, deadlineMs: number): Transport {
  const send = async (method: string, url: string, body?: unknown): Promise<string> => {
    const signal = AbortSignal.timeout(deadlineMs);
    const what = `${method} ${url.slice(host.length)}`;
    try {
      const response = await fetch(url, { method, signal, ...(body !== undefined && { body: JSON.stringify(body) }) });
      const text = await response.text();
      if (response.ok) return text;
      throw new ToxiproxyRefusal(`Toxiproxy refused ${what}: ${wordsOf(text)} (${response.status})`, {
        status: response.status,
      });
    } catch (cause) {
      if (cause instanceof ToxiproxyRefusal) throw cause;
      const why = signal.aborted ? `no answer in ${deadlineMs} ms` : reasonOf(cause);
      throw new ToxiproxyRefusal(`Toxiproxy at ${host}: ${what}: ${why}`, { hangs: signal.aborted, cause });
    }
  };
  const parse = <T>(text: string) => ({ data: (text === '' ? undefined : JSON.parse(text)) as T });
  return {
    get: async <T>(url: string) => parse<T>(await send('GET', url)),
    post: async <T>(url: string, body?: unknown) => parse<T>(await send('POST', url, body)),
    delete: async (url) => void (await send('DELETE', url)),
    getText: (url) => send('GET', url),
  };
}

/** Errors are `{error, status}`. */
function wordsOf(text: string): string {
  try {
    return (JSON.parse(text) as { error?: string }).error ?? text;
  } catch {
    return text; // Not its own page: whatever answered has said this.
  }
}

/** fetch hides the reason in the cause. */
function reasonOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  return cause === undefined ? messageOf(error) : messageOf(cause);
}
