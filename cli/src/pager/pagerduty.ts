import { ESCALATE_AFTER_MS } from './pager.ts';
import type { Delivery } from './pager-state.ts';

/** Lengths that PagerDuty takes, in characters. */
const MOST_SUMMARY = 1_024;

export interface Sender {
  /** Of the project, so that two of them do not share an incident. */
  readonly project: string;
  readonly routingKey: string | undefined;
}

/**
 * A delivery in the shape of PagerDuty's Events API v2. One alert is one incident: the same `dedup_key` from its first page to its end.
 * Source: PagerDuty, "Send an Alert Event", `POST /v2/enqueue`.
 */
export function toPagerDuty(delivery: Delivery, { project, routingKey }: Sender): object {
  const { action, alert, note } = delivery;
  const common = {
    ...(routingKey !== undefined && { routing_key: routingKey }),
    event_action: action,
    dedup_key: `shopctl/${project}/${alert.fingerprint}`,
  };
  if (action !== 'trigger') return note === undefined ? common : { ...common, payload: payload(delivery, project) };
  const links = /^https?:/.test(alert.generatorUrl) ? [{ href: alert.generatorUrl, text: 'Prometheus' }] : [];
  return { ...common, payload: payload(delivery, project), client: 'shopctl', links };
}

function payload({ alert, isEscalation, note }: Delivery, project: string): object {
  const { labels, annotations } = alert;
  const name = labels.alertname ?? 'alert';
  const summary = annotations.summary === undefined ? name : `${name}: ${annotations.summary}`;
  const prefix = isEscalation ? `no acknowledgement after ${ESCALATE_AFTER_MS / 1000} s: ` : '';
  return {
    summary: `${prefix}${summary}`.slice(0, MOST_SUMMARY),
    source: `shopctl/${project}`,
    severity: 'critical',
    timestamp: new Date(alert.startsAtMs).toISOString(),
    ...(labels.service !== undefined && { component: labels.service }),
    group: project,
    class: name,
    custom_details: { labels, annotations, ...(note !== undefined && { note }) },
  };
}
