import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { PROBE_PATH } from '@shop/kit/probe.ts';
import { messageOf } from '../errors.ts';
import { createDistribution, gaugeOf, histogramOf } from '../otlp/own-metrics.ts';
import type { Meter } from './meter.ts';

export interface ProbeMeterOptions {
  /** Base URL of the gateway; undefined while there is nothing to probe, or nothing may be probed. */
  gatewayUrl(): Promise<string | undefined>;
  /** Called once for each row of failures, and when they end. */
  onProblem(message: string): void;
  /** Default: one a second. */
  readonly everyMs?: number;
  /** Longest time for a response. Default: 2 s. */
  readonly limitMs?: number;
}

const EVERY_MS = 1_000;
const LIMIT_MS = 2_000;
/** In s, up to the limit; around what a quick response takes, and what a client notices. */
const BOUNDS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2];
const EXPECTED = { status: 404, code: 'order_not_found' } as const;

/**
 * Asks for an order that does not exist, over a new connection each time, once a second. `order_not_found` shows that
 * gateway, orders and its database serve. It makes no order and, being unsampled, no span.
 */
export function startProbeMeter(options: ProbeMeterOptions): Meter {
  const { gatewayUrl, onProblem, everyMs = EVERY_MS, limitMs = LIMIT_MS } = options;
  const ended = new AbortController();
  const durations = createDistribution(BOUNDS_S);
  let isServed: boolean | undefined;
  const done = keepProbing();

  async function keepProbing(): Promise<void> {
    while (!ended.signal.aborted) {
      const began = performance.now();
      await probeOnce().catch((error: unknown) => onProblem(`the probe is not possible: ${messageOf(error)}`));
      const restMs = Math.max(0, everyMs - (performance.now() - began));
      await delay(restMs, undefined, { signal: ended.signal }).catch(() => undefined); // Ended early.
    }
  }

  async function probeOnce(): Promise<void> {
    const url = await gatewayUrl();
    if (url === undefined) {
      isServed = undefined;
      return;
    }
    const began = performance.now();
    const problem = await problemOf(url, AbortSignal.any([ended.signal, AbortSignal.timeout(limitMs)]));
    if (ended.signal.aborted) return;
    durations.record((performance.now() - began) / 1_000);
    if (problem !== undefined && isServed !== false) onProblem(`the probe fails: ${problem}`);
    if (problem === undefined && isServed === false) onProblem('the probe succeeds again');
    isServed = problem === undefined;
  }

  return {
    metrics() {
      if (isServed === undefined) return [];
      return [
        gaugeOf(
          'shop.probe.success',
          { unit: '', description: '1 while a request passes gateway, orders and its database, otherwise 0.' },
          [{ value: isServed ? 1 : 0 }],
        ),
        histogramOf(
          'shop.probe.duration',
          { unit: 's', description: 'Duration of probes, up to their response or their limit.' },
          durations,
        ),
      ];
    },
    async end() {
      ended.abort();
      await done;
      isServed = undefined;
    },
  };
}

/** What is wrong with the response; undefined when it is as it must be. */
async function problemOf(gatewayUrl: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const { status, body } = await get(new URL(PROBE_PATH, gatewayUrl), signal);
    if (status === EXPECTED.status && codeIn(body) === EXPECTED.code) return undefined;
    return `the response is ${status} ${codeIn(body)}`;
  } catch (error) {
    return signal.aborted ? 'no response in time' : messageOf(error);
  }
}

/** A new connection each time: a kept one does not show whether new ones are taken. */
function get(url: URL, signal: AbortSignal): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { agent: false, signal, headers: { traceparent: unsampled() } }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    });
    outgoing.once('error', reject);
    outgoing.end();
  });
}

/** A trace context whose flags say that it is not recorded. Source: W3C Trace Context, section 3.2. */
function unsampled(): string {
  return `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-00`;
}

function codeIn(body: string): string {
  try {
    return String((JSON.parse(body) as { code?: unknown }).code ?? 'without a code');
  } catch {
    return 'without a problem';
  }
}
