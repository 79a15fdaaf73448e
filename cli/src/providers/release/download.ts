import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { Dispatcher, EnvHttpProxyAgent } from 'undici';

/** All in ms. */
export interface DownloadLimits {
  /** From the request to the head of its response, once per redirect: name, connection, TLS and server together. */
  readonly responseMs: number;
  /** Without a single byte. */
  readonly stallMs: number;
  readonly totalMs: number;
}

/** A user without a network waits five seconds for the next source; a user with a slow one has ten minutes. */
const LIMITS: DownloadLimits = { responseMs: 5_000, stallMs: 30_000, totalMs: 600_000 };
/** The release host responds with one redirect to its storage. */
const MAX_REDIRECTS = 5;
const redirects: readonly number[] = [301, 302, 303, 307, 308];

export interface DownloadOptions {
  readonly url: URL;
  /** Created; must not exist. What was written of a file that failed stays, for the caller to remove. */
  readonly target: string;
  readonly maxBytes: number;
  /** HTTPS_PROXY and NO_PROXY are taken from here. */
  readonly env: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal | undefined;
  readonly limits?: DownloadLimits | undefined;
  /** How much of it is there, in whole percent; not called when the server does not say how much there is. */
  readonly onPercent?: (percent: number) => void;
}

/**
 * Downloads a file over HTTPS (or over HTTP from this machine) and resolves with its SHA-256 in hex. Throws with what went
 * wrong where, without the query of an address: those of storage hosts are signed.
 */
export async function download(options: DownloadOptions): Promise<string> {
  const { url, target, maxBytes, env, signal, onPercent, limits = LIMITS } = options;
  // Loaded here: few commands download anything, and all of them load this file.
  const { EnvHttpProxyAgent } = await import('undici');
  const dispatcher = new EnvHttpProxyAgent({ ...proxiesOf(env), bodyTimeout: limits.stallMs });
  const timeUp = AbortSignal.timeout(limits.totalMs);
  const ended = signal === undefined ? timeUp : AbortSignal.any([signal, timeUp]);
  const hash = createHash('sha256');
  try {
    const { headers, body } = await open(url, { dispatcher, signal: ended, limits }, MAX_REDIRECTS);
    const announced = Number(headers['content-length'] ?? Number.NaN);
    let [bytes, percent] = [0, -1];
    const measured = async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        if (bytes > maxBytes) throw new Error(`it is larger than the ${maxBytes} bytes that are taken`);
        hash.update(chunk);
        const now = Math.floor((bytes / announced) * 100);
        if (now > percent) onPercent?.(now);
        percent = Math.max(percent, now);
        yield chunk;
      }
    };
    await pipeline(body, measured, createWriteStream(target, { flags: 'wx' }));
    return hash.digest('hex');
  } catch (error) {
    if (timeUp.aborted && !signal?.aborted) throw new Error(`not there after ${limits.totalMs / 1_000} s`);
    if ((error as NodeJS.ErrnoException).code === 'UND_ERR_BODY_TIMEOUT')
      throw new Error(`the server sent nothing for ${limits.stallMs / 1_000} s`);
    throw error;
  } finally {
    await dispatcher.destroy();
  }
}

function proxiesOf(env: NodeJS.ProcessEnv): EnvHttpProxyAgent.Options {
  const find = (name: string) => env[name.toLowerCase()] || env[name] || '';
  // Plain HTTP never leaves the machine.
  return { httpProxy: '', httpsProxy: find('HTTPS_PROXY'), noProxy: find('NO_PROXY') };
}

interface Asking {
  readonly dispatcher: Dispatcher;
  readonly signal: AbortSignal;
  readonly limits: DownloadLimits;
}

/** Follows redirects and resolves with the head of the response; its body flows when it is read. */
async function open(url: URL, asking: Asking, redirectsLeft: number): Promise<Dispatcher.ResponseData> {
  const response = await ask(url, asking);
  const { statusCode, headers, body } = response;
  if (statusCode === 200) return response;
  body.on('error', () => undefined).destroy(); // It is not read.
  if (!redirects.includes(statusCode) || typeof headers.location !== 'string')
    throw new Error(`${url.host} responded ${statusCode} for ${url.pathname}`);
  if (redirectsLeft === 0) throw new Error(`${url.host} redirects more than ${MAX_REDIRECTS} times`);
  return open(new URL(headers.location, url), asking, redirectsLeft - 1);
}

async function ask(url: URL, { dispatcher, signal, limits }: Asking): Promise<Dispatcher.ResponseData> {
  if (url.protocol !== 'https:' && !isOurs(url))
    throw new Error(`${url.protocol}//${url.host} is not HTTPS, over which programs are downloaded`);
  const late = new AbortController();
  const timer = setTimeout(
    () => late.abort(new Error(`no response from ${url.host} within ${limits.responseMs / 1_000} s`)),
    limits.responseMs,
  );
  try {
    return await dispatcher.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: 'GET',
      signal: AbortSignal.any([signal, late.signal]),
    });
  } finally {
    clearTimeout(timer);
  }
}

/** Plain HTTP never leaves the machine. */
function isOurs({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(hostname);
}
