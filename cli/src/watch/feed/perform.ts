import type { ChaosClient } from '../../chaos/chaos-client.ts';
import type { Lease } from '../../chaos/lease.ts';
import { CliError, messageOf, receivedError } from '../../errors.ts';
import { askedFrom } from '../../platform/change-log.ts';
import { formatDuration } from '../../shared/duration.ts';
import { createGatewayClient, RESPONSE_LIMIT_MS } from '../../shop/gateway-client.ts';
import { parseIdPrefix } from '../../shop/id-prefix.ts';
import { readOrderEvidence } from '../../shop/order-evidence.ts';
import { readTraceIfAny } from '../../shop/order-trace.ts';
import { shortId } from '../../shop/times.ts';
import type { Effect, Message, Notice } from '../model/model.ts';
import type { OrderPreset } from '../model/presets.ts';
import type { Feed, Reach } from './feed.ts';
import { runLoad } from './load.ts';

export interface Performer {
  perform(effect: Exclude<Effect, { type: 'quit' }>): void;
  /**
   * No further orders; an injection that is not in effect yet is reverted by the supervisor. Responses are not awaited.
   */
  end(): void;
}

export interface PerformerOptions {
  readonly feed: Feed;
  readonly chaos: ChaosClient;
  dispatch(message: Message): void;
}

/** Does what keys ask for; every result, good or bad, becomes a notice. */
export function createPerformer({ feed, chaos, dispatch }: PerformerOptions): Performer {
  const over = new AbortController();
  let load: AbortController | undefined;

  const notify = (tone: Notice['tone'], text: string) => dispatch({ type: 'notice', notice: { tone, text } });

  async function place(order: OrderPreset, { connection }: Reach): Promise<void> {
    const { productId, quantity } = order;
    const response = await createGatewayClient(connection.gatewayUrl).placeOrder(
      { customer: 'Demo customer', lines: [{ productId, quantity }] },
      { timeoutMs: RESPONSE_LIMIT_MS, signal: over.signal },
    );
    const took = formatDuration(response.tookMs);
    if (response.kind === 'problem') notify('bad', `${response.problem.title}: ${response.problem.detail} (${took})`);
    else if (response.status === 'Confirmed') notify('good', `order ${shortId(response.id)} Confirmed in ${took}`);
    else notify('plain', `order ${shortId(response.id)} Cancelled: ${response.reason} (${took})`);
  }

  async function startLoad(perSecond: number, forMs: number, { connection }: Reach): Promise<void> {
    if (load !== undefined) return;
    load = new AbortController();
    notify('good', `load of ${perSecond} orders/s started; l ends it`);
    const { sent, confirmed, cancelled, failed } = await runLoad({
      client: createGatewayClient(connection.gatewayUrl),
      perSecond,
      forMs,
      signal: AbortSignal.any([load.signal, over.signal]),
      onProgress: (progress) => dispatch({ type: 'load', load: progress }),
    });
    load = undefined;
    dispatch({ type: 'load', load: undefined });
    const text = `load ended: ${sent} orders, ${confirmed} confirmed, ${cancelled} cancelled, ${failed} failed`;
    notify(failed === 0 ? 'good' : 'bad', text);
  }

  async function inject({ preset, target, ttlMs }: Extract<Effect, { type: 'inject' }>): Promise<void> {
    const { fault, parameters } = preset;
    for await (const response of chaos.inject({ fault, target, parameters, ttlMs, hold: false }, over.signal)) {
      if (response.type === 'failed') throw receivedError(response.error);
      const { tone, text } = effectWords(response.lease);
      notify(tone, `${target} ${fault} ${text}`);
    }
    feed.refresh();
  }

  async function clear(ids: readonly string[] | undefined): Promise<void> {
    const { reverted, notReverted } = await chaos.clear(ids, '"watch"');
    feed.refresh();
    const [left] = notReverted;
    if (left) notify('bad', `${left.target} ${left.fault} was not reverted: ${left.problem}`);
    else if (reverted.length === 0) notify('plain', 'it had ended already');
    else notify('good', `${reverted.map(({ target, fault }) => `${target} ${fault}`).join(', ')}: reverted`);
  }

  async function restart(service: string, { connection }: Reach): Promise<void> {
    const began = performance.now();
    await connection.control.service(service, 'restart', askedFrom('watch'));
    feed.refresh();
    notify('good', `${service} is ready again (${formatDuration(performance.now() - began)})`);
  }

  async function readOrder(id: string, { databases, telemetry }: Reach): Promise<void> {
    try {
      const story = await readOrderEvidence(databases, parseIdPrefix(id, 'order'));
      const trace = await readTraceIfAny(telemetry, story.order.traceId);
      dispatch({ type: 'order', id, detail: { story, trace } });
    } catch (error) {
      dispatch({ type: 'orderFailed', id, why: messageOf(error) });
    }
  }

  async function act(effect: Exclude<Effect, { type: 'quit' }>): Promise<void> {
    if (effect.type === 'stopLoad') return load?.abort();
    if (effect.type === 'inject') return inject(effect);
    if (effect.type === 'clear') return clear(effect.ids);
    const reach = feed.reach();
    if (reach === undefined)
      throw new CliError({ code: 'platform_not_running', what: 'the platform does not respond' });
    switch (effect.type) {
      case 'place':
        return place(effect.order, reach);
      case 'startLoad':
        return startLoad(effect.perSecond, effect.forMs, reach);
      case 'restart':
        return restart(effect.service, reach);
      case 'readOrder':
        return readOrder(effect.id, reach);
    }
  }

  return {
    perform(effect) {
      act(effect).catch((error: unknown) => {
        if (!over.signal.aborted) notify('bad', messageOf(error));
      });
    },
    end: () => over.abort(),
  };
}

/** What was measured where a fault acts; the measurement itself is among the events. */
function effectWords({ status, witness, end }: Lease): { tone: Notice['tone']; text: string } {
  if (status === 'reverted') return { tone: 'good', text: `happened, and is over: ${end?.evidence ?? ''}` };
  switch (witness?.verdict) {
    case 'observed':
      return { tone: 'good', text: 'is in effect' };
    case 'pending':
      return { tone: 'good', text: 'waits for its moment' };
    case 'unmeasurable':
      return { tone: 'plain', text: 'is on; it cannot be measured' };
    default:
      return { tone: 'bad', text: 'is not in effect' };
  }
}
