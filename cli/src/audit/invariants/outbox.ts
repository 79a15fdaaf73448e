import { EVENT_SOURCE, ORDER_CONFIRMED, ORDER_CONFIRMED_V2 } from '@shop/kit/event-schemas.ts';
import { formatCount } from '../../output/units.ts';
import { describeLines, type EventFact, type OrderFact, type OutboxFact } from '../facts.ts';
import { HORIZON_MS } from '../horizon.ts';
import { type Clock, type Finding, isOverdue, NO_FINDINGS, type OrderInvariant, violated } from '../invariant.ts';

/** Polling interval, a batch under load and the broker's confirm: an event that waits longer is stuck. In ms. */
export const PUBLISH_LIMIT_MS = 15_000;

const VERSIONS: ReadonlySet<string> = new Set([ORDER_CONFIRMED, ORDER_CONFIRMED_V2]);

/**
 * I6: one `order.confirmed` per Confirmed order; it and the other versions that the order has say what the order says, in the
 * request's trace, and are published. No event for any other order.
 */
export const outboxMatches: OrderInvariant = {
  id: 'I6',
  title: 'one event per confirmed order, published',
  needs: ['orders'],
  start(clock) {
    const tally = { confirmed: 0, events: 0, published: 0 };
    return {
      add({ order, orderId, outbox }) {
        if (order?.status === 'Confirmed') tally.confirmed++;
        tally.events += outbox.length;
        tally.published += outbox.filter(({ publishedAt }) => publishedAt !== undefined).length;
        return check({ order, orderId, outbox, clock });
      },
      evidence: () =>
        `${formatCount(tally.confirmed)} Confirmed, ${formatCount(tally.events)} events, ${formatCount(tally.events - tally.published)} unpublished`,
    };
  },
};

interface Case {
  readonly order: OrderFact | undefined;
  readonly orderId: string;
  readonly outbox: readonly OutboxFact[];
  readonly clock: Clock;
}

function check({ order, orderId, outbox, clock }: Case): Finding {
  if (order?.status !== 'Confirmed') {
    if (outbox.length === 0) return NO_FINDINGS;
    return violated('unexpected', `${outbox[0]?.type} for ${order === undefined ? 'no order' : describe(order)}`);
  }
  const repeated = outbox.find(({ type }, index) => outbox.findIndex((other) => other.type === type) !== index);
  if (repeated !== undefined) return violated('duplicated', `${repeated.type} more than once`);
  if (!outbox.some(({ type }) => type === ORDER_CONFIRMED)) {
    // An event is published, and so its time begins, after the decision by the same clock.
    const mayBeDeleted = clock.at - (order.decidedAt ?? order.createdAt) > HORIZON_MS;
    return mayBeDeleted ? NO_FINDINGS : violated('lost', `no ${ORDER_CONFIRMED} in the outbox`);
  }
  const findings = outbox.map((event) => checkEvent({ order, orderId, event, clock }));
  return {
    violations: findings.flatMap(({ violations }) => violations),
    inFlight: findings.some(({ inFlight }) => inFlight),
  };
}

function checkEvent(options: { order: OrderFact; orderId: string; event: OutboxFact; clock: Clock }): Finding {
  const { order, orderId, event, clock } = options;
  const { type } = event;
  const contradiction = contradictionIn(event, order, orderId);
  if (contradiction !== undefined) return violated('wrong', contradiction);
  if (event.traceId !== order.traceId) {
    return violated('wrong', `trace is ${order.traceId ?? 'none'}, that of its ${type} is ${event.traceId ?? 'none'}`);
  }
  if (event.publishedAt !== undefined) return NO_FINDINGS;
  if (!isOverdue(clock, event.createdAt, PUBLISH_LIMIT_MS)) return { violations: [], inFlight: true };
  return violated('stuck', `${type} unpublished for ${Math.round((clock.at - event.createdAt) / 1000)} s`);
}

/** The first thing that the event says otherwise than its row and the order. */
function contradictionIn(
  { messageId, type, event }: OutboxFact,
  order: OrderFact,
  orderId: string,
): string | undefined {
  if (!VERSIONS.has(type)) return `its ${type} is not a version of the event`;
  if (event.orderId !== orderId) return `its ${type} is about order ${event.orderId}`;
  const said: readonly (readonly [string, unknown, unknown])[] = [
    ['total', order.totalKopiykas, event.totalKopiykas],
    ['currency', order.currency, event.currency],
    ['id', messageId, event.id],
    ['type', type, event.type],
    ['source', EVENT_SOURCE, event.source],
  ];
  const other = said.find(([, expected, is]) => expected !== is);
  if (other !== undefined) return `${other[0]} is ${other[1]}, its ${type} says ${other[2]}`;
  return contradictingLines(event, order, type);
}

/** Version 2 says the price of each line. */
function contradictingLines({ lines }: EventFact, order: OrderFact, type: string): string | undefined {
  const [ordered, reported] = [describeLines(order.lines), describeLines(lines)];
  if (ordered !== reported) return `ordered ${ordered}, its ${type} says ${reported || 'nothing'}`;
  if (type !== ORDER_CONFIRMED_V2) return undefined;
  const mispriced = lines.find(
    (line) => !order.lines.some((one) => one.productId === line.productId && one.priceKopiykas === line.priceKopiykas),
  );
  return mispriced && `its ${type} says another price of product ${mispriced.productId}: ${mispriced.priceKopiykas}`;
}

function describe({ status, state }: OrderFact): string {
  return status === null ? `an order in state ${state}` : `a ${status} order`;
}
