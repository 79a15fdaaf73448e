import { createHash, type Hash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { get as getHttp, type IncomingMessage } from 'node:http';
import { Agent, get as getHttps } from 'node:https';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** All in ms. */
export interface DownloadLimits {
  /** From the request to the head of its answer, once per redirect: name, connection, TLS and server together. */
  readonly responseMs: number;
  /** Without a single byte. */
  readonly stallMs: number;
  readonly totalMs: number;
}

/** Somebody without a network waits five seconds for the next way; somebody with a slow one has ten minutes. */
const LIMITS: DownloadLimits = { responseMs: 5_000, stallMs: 30_000, totalMs: 600_000 };
/** The release host answers with one redirect to its storage. */
const MOST_REDIRECTS = 5;
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
  const { target, maxBytes, signal, onPercent, limits = LIMITS } = options;
  const timeUp = AbortSignal.timeout(limits.totalMs);
  const ended = signal === undefined ? timeUp : AbortSignal.any([signal, timeUp]);
  try {
    const response = await open(options.url, { env: options.env, signal: ended, limits }, MOST_REDIRECTS);
    const hash = createHash('sha256');
    await pipeline(
      response,
      meter(response, { hash, maxBytes, onPercent }),
      createWriteStream(target, { flags: 'wx' }),
    );
    return hash.digest('hex');
  } catch (error) {
    if (timeUp.aborted && !signal?.aborted) throw new Error(`not there after ${limits.totalMs / 1_000} s`);
    throw error;
  }
}

interface Asking {
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly limits: DownloadLimits;
}

async function open(url: URL, asking: Asking, redirectsLeft: number): Promise<IncomingMessage> {
  const response = await ask(url, asking);
  const { statusCode = 0, headers } = response;
  if (statusCode === 200) return response;
  response.destroy();
  if (!redirects.includes(statusCode) || headers.location === undefined)
    throw new Error(`${url.host} answered ${statusCode} for ${url.pathname}`);
  if (redirectsLeft === 0) throw new Error(`${url.host} redirects more than ${MOST_REDIRECTS} times`);
  return open(new URL(headers.location, url), asking, redirectsLeft - 1);
}

/** Resolves with the head of the answer; its body flows when it is read. */
function ask(url: URL, { env, signal, limits }: Asking): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = isOurs(url)
      ? getHttp(url, { signal, agent: false })
      : getHttps(assertEncrypted(url), { signal, agent: new Agent({ proxyEnv: env }) });
    const late = setTimeout(
      () => request.destroy(new Error(`no answer from ${url.host} within ${limits.responseMs / 1_000} s`)),
      limits.responseMs,
    );
    request.on('close', () => clearTimeout(late));
    request.on('error', reject);
    request.once('response', (response: IncomingMessage) => {
      clearTimeout(late);
      response.setTimeout(limits.stallMs, () =>
        response.destroy(new Error(`${url.host} sent nothing for ${limits.stallMs / 1_000} s`)),
      );
      resolve(response);
    });
  });
}

/** Plain HTTP never leaves the machine. */
function isOurs({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(hostname);
}

function assertEncrypted(url: URL): URL {
  if (url.protocol === 'https:') return url;
  throw new Error(`${url.protocol}//${url.host} is not HTTPS, over which programs are downloaded`);
}

/** Passes bytes on, counting them and adding them to the hash. */
function meter(
  { headers }: IncomingMessage,
  { hash, maxBytes, onPercent }: Pick<DownloadOptions, 'maxBytes' | 'onPercent'> & { readonly hash: Hash },
): Transform {
  const announced = Number(headers['content-length'] ?? Number.NaN);
  let bytes = 0;
  let percent = -1;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > maxBytes) return done(new Error(`it is larger than the ${maxBytes} bytes that are taken`));
      hash.update(chunk);
      const now = Math.floor((bytes / announced) * 100);
      if (now > percent) onPercent?.(now);
      percent = Math.max(percent, now);
      done(null, chunk);
    },
  });
}
