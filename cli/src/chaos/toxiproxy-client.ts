import toxiproxyNodeClient from 'toxiproxy-node-client';
import { HttpClient } from 'toxiproxy-node-client/dist/HttpClient.js';
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

/** Toxiproxy rejected a request, or did not respond in time. */
export class ToxiproxyRequestError extends Error {
  override readonly name = 'ToxiproxyRequestError';
  /** HTTP status; undefined when there was no response. */
  readonly status: number | undefined;
  /** No response within the deadline although something listens: the server hangs, only a restart helps. */
  readonly timedOut: boolean;

  constructor(
    message: string,
    { status, timedOut = false, cause }: { status?: number; timedOut?: boolean; cause?: unknown },
  ) {
    super(message, { cause });
    this.status = status;
    this.timedOut = timedOut;
  }
}

/** What faults need of a Toxiproxy. Each request rejects with ToxiproxyRequestError, at the latest after the deadline. */
export interface ToxiproxyClient {
  version(): Promise<string>;
  proxies(): Promise<readonly ProxyState[]>;
  /** Rejects with status 404 for an unknown proxy. */
  proxy(name: string): Promise<ProxyState>;
  /** Throws CliError (2) for meaningless attributes before anything is sent. */
  addToxic(proxy: string, toxic: Toxic): Promise<void>;
  /** Idempotent: a toxic or proxy that does not exist is not an error. */
  removeToxic(proxy: string, toxic: string): Promise<void>;
  /** Disabled, a proxy refuses connections and has closed those it held. Idempotent. */
  setEnabled(proxy: string, isEnabled: boolean): Promise<void>;
}

/** Longest wait for a response of the API, ms. Its own handlers give up after 25 s, far too late for an undo. */
const DEADLINE_MS = 3_000;

/** A client for the API at `url`, `http://127.0.0.1:8474`; connects on each call. */
export function createToxiproxyClient(url: string, { deadlineMs = DEADLINE_MS } = {}): ToxiproxyClient {
  const server = new toxiproxyNodeClient.Toxiproxy(url);
  server.api = new BoundedHttpClient(deadlineMs);
  return {
    version: async () => (JSON.parse(await server.getVersion()) as { version: string }).version,
    // Not getAll() and get(): the library's Proxy drops the toxics.
    proxies: async () => Object.values((await server.api.get<Record<string, ProxyState>>(`${url}/proxies`)).data),
    proxy: async (name) => (await server.api.get<ProxyState>(`${url}/proxies/${name}`)).data,
    async addToxic(name, toxic) {
      checkToxic(toxic);
      await (await server.get(name)).addToxic<Toxic['attributes']>({ ...toxic });
    },
    async removeToxic(name, toxic) {
      try {
        await (await (await server.get(name)).getToxic(toxic)).remove();
      } catch (error) {
        if (!(error instanceof ToxiproxyRequestError && error.status === 404)) throw error;
      }
    },
    async setEnabled(name, isEnabled) {
      const proxy = await server.get(name);
      const { enabled, listen, upstream } = proxy;
      if (enabled !== isEnabled) await proxy.update({ enabled: isEnabled, listen, upstream });
    },
  };
}

/** Throws CliError (2) unless attributes and toxicity mean something. */
export function checkToxic({ type, attributes, toxicity }: Toxic): void {
  checkParameters(toxicAttributes[type], attributes, type);
  if (toxicity > 0 && toxicity <= 1) return;
  throw new CliError({
    code: 'invalid_fault',
    what: `the toxicity of ${type} is ${toxicity}`,
    why: 'it is the share of connections that are affected',
    next: 'state a number above 0 and up to 1, or leave it out for 1',
  });
}

/** The library's transport with what it lacks: a deadline, and status and message of the server in errors. */
class BoundedHttpClient extends HttpClient {
  readonly #deadlineMs: number;

  constructor(deadlineMs: number) {
    super();
    this.#deadlineMs = deadlineMs;
  }

  override async get<T>(url: string) {
    return parse<T>(await this.#send('GET', url));
  }

  override async post<T>(url: string, body?: unknown) {
    return parse<T>(await this.#send('POST', url, body));
  }

  override async delete(url: string) {
    await this.#send('DELETE', url);
  }

  override getText(url: string) {
    return this.#send('GET', url);
  }

  async #send(method: string, url: string, body?: unknown): Promise<string> {
    const signal = AbortSignal.timeout(this.#deadlineMs);
    try {
      const response = await fetch(url, { method, signal, ...(body !== undefined && { body: JSON.stringify(body) }) });
      const text = await response.text();
      if (response.ok) return text;
      throw new ToxiproxyRequestError(`Toxiproxy rejected ${method} ${url}: ${messageIn(text)} (${response.status})`, {
        status: response.status,
      });
    } catch (cause) {
      if (cause instanceof ToxiproxyRequestError) throw cause;
      const why = signal.aborted ? `no response in ${this.#deadlineMs} ms` : reasonOf(cause);
      throw new ToxiproxyRequestError(`Toxiproxy: ${method} ${url}: ${why}`, { timedOut: signal.aborted, cause });
    }
  }
}

function parse<T>(text: string): { data: T } {
  return { data: (text === '' ? undefined : JSON.parse(text)) as T };
}

/** Errors of the API are `{error, status}`. */
function messageIn(text: string): string {
  try {
    return (JSON.parse(text) as { error?: string }).error ?? text;
  } catch {
    return text; // Something else listens there, and this is its response.
  }
}

/** fetch hides the reason in the cause. */
function reasonOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  return messageOf(cause ?? error);
}
