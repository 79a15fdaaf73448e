import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../errors.ts';
import type { TracesData } from './otlp-json.ts';

/** Where a Jaeger takes spans and serves queries; base URLs. */
export interface JaegerAddress {
  /** OTLP over HTTP, by default Jaeger's port 4318. */
  readonly otlpUrl: string;
  /** Query API, by default Jaeger's port 16686. */
  readonly queryUrl: string;
}

/** Passes spans on to a Jaeger and asks it for traces. */
export interface JaegerRelay {
  readonly address: JaegerAddress;
  /** Queues an export; it is sent in order, and again until Jaeger takes it. */
  forward(body: TracesData): void;
  /** Jaeger's own response to a path and query below `/api/v3/`; 502 with the reason when it gives none. */
  read(pathAndQuery: string): Promise<{ readonly status: number; readonly body: unknown }>;
  /** Ends sending; what is queued is lost. */
  close(): void;
}

/** Exports kept while Jaeger does not respond, about 10 KB each; the oldest are dropped beyond it. */
const MAX_QUEUED = 2_000;
const RETRY_AFTER_MS = 250;
const TIMEOUT_MS = 5_000;

/** `onProblem` is called once per row of failures. */
export function createJaegerRelay(address: JaegerAddress, onProblem: (message: string) => void): JaegerRelay {
  const closed = new AbortController();
  const queue: string[] = [];
  let dropped = 0;
  let isSending = false;

  async function sendAll(): Promise<void> {
    isSending = true;
    let isFailing = false;
    for (let body = queue[0]; body !== undefined && !closed.signal.aborted; body = queue[0]) {
      const problem = await send(address.otlpUrl, body, closed.signal);
      if (problem === undefined) {
        queue.shift();
        if (isFailing) onProblem(`Jaeger takes spans again${dropped > 0 ? `, ${dropped} exports were lost` : ''}`);
        isFailing = false;
        dropped = 0;
        continue;
      }
      if (!isFailing) onProblem(`Jaeger at ${address.otlpUrl} takes no spans, they wait: ${problem}`);
      isFailing = true;
      await delay(RETRY_AFTER_MS, undefined, { signal: closed.signal }).catch(() => {}); // Closing ends the pause.
    }
    isSending = false;
  }

  return {
    address,
    forward(body) {
      queue.push(JSON.stringify(body));
      if (queue.length > MAX_QUEUED) {
        // The first may be on its way; dropping the second keeps the order of the others.
        queue.splice(1, 1);
        dropped += 1;
      }
      if (!isSending) void sendAll();
    },
    read: (pathAndQuery) => read(new URL(pathAndQuery, address.queryUrl)),
    close: () => closed.abort(),
  };
}

/** Why it was not taken; undefined when it was. An export that Jaeger refuses for good is not sent again. */
async function send(otlpUrl: string, body: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const response = await fetch(new URL('/v1/traces', otlpUrl), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    const text = await response.text();
    const isTaken = response.ok || response.status === 400;
    return isTaken ? undefined : `it responded ${response.status}: ${text.slice(0, 200)}`;
  } catch (error) {
    return reasonOf(error);
  }
}

async function read(url: URL): Promise<{ status: number; body: unknown }> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    return { status: response.status, body: await response.json() };
  } catch (error) {
    return { status: 502, body: { error: { httpCode: 502, message: `Jaeger at ${url.origin}: ${reasonOf(error)}` } } };
  }
}

/** fetch says only "fetch failed"; its cause says why. */
function reasonOf(error: unknown): string {
  return messageOf(error instanceof TypeError && error.cause !== undefined ? error.cause : error);
}
