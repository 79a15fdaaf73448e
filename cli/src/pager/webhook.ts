import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../errors.ts';
import { describeWebhook, type WebhookSettings } from '../platform/webhook-settings.ts';
import type { Pager } from './pager.ts';
import type { Delivery } from './pager-state.ts';
import { toPagerDuty } from './pagerduty.ts';

export interface WebhookOptions {
  readonly settings: WebhookSettings;
  readonly project: string;
  readonly pager: Pick<Pager, 'deliveries' | 'delivered' | 'undelivered' | 'follow'>;
  /** What was given up, and the first failure of a row. */
  readonly report: (problem: string) => void;
  readonly fetch?: typeof globalThis.fetch;
  readonly limits?: Partial<WebhookLimits>;
  /** From 0 to 1. */
  readonly random?: () => number;
}

export interface WebhookLimits {
  readonly attemptMs: number;
  readonly firstBackoffMs: number;
  readonly maxBackoffMs: number;
  /** After so many attempts a delivery is given up: with these numbers after about 50 minutes. */
  readonly attempts: number;
}

const defaultLimits: WebhookLimits = { attemptMs: 5_000, firstBackoffMs: 1_000, maxBackoffMs: 60_000, attempts: 60 };

export interface Webhook {
  /** Ends the attempt in flight; what was not delivered stays in the pager's state. */
  close(): Promise<void>;
}

type Outcome = 'delivered' | { readonly problem: string; readonly isFinal: boolean };

/**
 * Delivers what waits, one after the other in its order, with full jitter between attempts. It waits for nothing but its receiver, and
 * the pager never waits for it. Redirects are refused, because the body has a key for one host.
 */
export function startWebhook(options: WebhookOptions): Webhook {
  const { pager, report, settings, random = Math.random } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const ended = new AbortController();
  let wake: (() => void) | undefined;
  const unfollow = pager.follow(() => wake?.());
  const running = deliverAll();

  async function deliverAll(): Promise<void> {
    while (!ended.signal.aborted) {
      const [next] = pager.deliveries();
      if (next !== undefined) await deliver(next);
      else await waitForMore();
    }
  }

  function waitForMore(): Promise<void> {
    return new Promise((resolve) => {
      wake = resolve;
      ended.signal.addEventListener('abort', () => resolve(), { once: true });
      if (pager.deliveries().length > 0 || ended.signal.aborted) resolve();
    });
  }

  async function deliver(delivery: Delivery): Promise<void> {
    for (let attempt = 1; !ended.signal.aborted; attempt++) {
      const outcome = await send(delivery);
      if (ended.signal.aborted) return;
      if (outcome === 'delivered') return pager.delivered(delivery, attempt);
      // Given up meanwhile, because too many wait.
      if (!pager.deliveries().some(({ of }) => of === delivery.of)) return;
      const { problem, isFinal } = outcome;
      if (isFinal || attempt >= limits.attempts) {
        report(`webhook ${describeWebhook(settings)}: ${delivery.action} of ${nameOf(delivery)} given up: ${problem}`);
        return pager.undelivered(delivery, attempt, problem);
      }
      if (attempt === 1) report(`webhook ${describeWebhook(settings)}: ${problem}; it is tried again`);
      const pauseMs = random() * Math.min(limits.maxBackoffMs, limits.firstBackoffMs * 2 ** (attempt - 1));
      await delay(pauseMs, undefined, { signal: ended.signal }).catch(ignoreAbort);
    }
  }

  async function send(delivery: Delivery): Promise<Outcome> {
    const { fetch = globalThis.fetch } = options;
    try {
      const response = await fetch(settings.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(toPagerDuty(delivery, { project: options.project, routingKey: settings.routingKey })),
        redirect: 'error',
        signal: AbortSignal.any([ended.signal, AbortSignal.timeout(limits.attemptMs)]),
      });
      // A connection is free for the next delivery only after its body.
      await response.body?.cancel();
      if (response.ok) return 'delivered';
      const isTransient = response.status === 429 || response.status >= 500;
      return { problem: `status ${response.status}`, isFinal: !isTransient };
    } catch (error) {
      // The reason below it names a host at most; the message itself may have the URL.
      const { cause, name } = error as Error;
      return { problem: cause === undefined ? name : messageOf(cause), isFinal: false };
    }
  }

  return {
    async close() {
      unfollow();
      ended.abort();
      await running;
    },
  };
}

function nameOf({ alert }: Delivery): string {
  return alert.labels.alertname ?? alert.fingerprint;
}

function ignoreAbort(error: unknown): void {
  if ((error as Error).name !== 'AbortError') throw error;
}
