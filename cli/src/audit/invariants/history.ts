import { formatCount } from '../../output/units.ts';
import type { OrderFact } from '../facts.ts';
import type { History, IterationCoverage } from '../history.ts';
import { HORIZON_MS } from '../horizon.ts';
import { NO_FINDINGS, type OrderInvariant, type Violation, violated } from '../invariant.ts';

/** A request is stamped by its client, its order by the database a moment later or earlier. In ms. */
const STAMP_SLACK_MS = 15_000;

/** I2: the result that a client received is durable for as long as the audit looks back, and never changes. */
export function acknowledgedIsDurable(history: History): OrderInvariant {
  return {
    id: 'I2',
    title: 'every response to a client is still true',
    needs: ['orders'],
    start({ at }) {
      const seen = new Set<string>();
      return {
        add({ orderId, order }) {
          const reported = history.acknowledged.get(orderId);
          if (reported === undefined || order === undefined) return NO_FINDINGS;
          seen.add(orderId);
          if (history.flipped.has(orderId)) return violated('wrong', 'clients received two different results');
          const contradiction = contradictionOf(reported, order);
          return contradiction === undefined ? NO_FINDINGS : violated('wrong', contradiction);
        },
        evidence: () =>
          `${formatCount(history.acknowledged.size)} orders acknowledged, ${formatCount(seen.size)} found`,
        total: () =>
          [...history.acknowledged]
            .filter(([orderId, { time = at }]) => !seen.has(orderId) && at - time <= HORIZON_MS)
            .map(([orderId, reported]) => ({
              kind: 'lost',
              orderId,
              detail: `the client received ${reported.status}, there is no order`,
            })),
      };
    },
  };
}

function contradictionOf({ status, reason }: IterationCoverage, order: OrderFact): string | undefined {
  if (order.status !== status) return `the client received ${status}, the order is ${order.status ?? order.state}`;
  if (reason === undefined || order.reason === reason) return undefined;
  return `the client received ${status} (${reason}), the order is ${order.status} (${order.reason ?? 'no reason'})`;
}

/**
 * I3: there is no order without a request. An order whose client got no clear response is recovered, not unexpected:
 * known by its id or its Idempotency-Key; of requests without either only the number is known.
 */
export function ordersWereAskedFor(history: History): OrderInvariant {
  return {
    id: 'I3',
    title: 'no unexpected order',
    needs: ['orders'],
    start() {
      const recovered: string[] = [];
      const surplus: string[] = [];
      return {
        add({ orderId, order }) {
          if (order === undefined || history.acknowledged.has(orderId)) return NO_FINDINGS;
          const { idempotencyKey: key } = order;
          if (history.unclear.has(orderId) || (key !== undefined && history.unclearKeys.has(key)))
            recovered.push(orderId);
          else if (isInWindow(order.createdAt, history)) surplus.push(orderId);
          return NO_FINDINGS;
        },
        evidence: () =>
          `${formatCount(surplus.length)} orders without a clear response, ${formatCount(history.unclearWithoutKey)} requests may have made one; ${formatCount(recovered.length)} recovered by id or key`,
        total: () => [
          ...recovered.map(
            (orderId): Violation => ({ kind: 'recovered', orderId, detail: 'took effect, its client got no response' }),
          ),
          ...surplus.map((orderId) => checkSurplus(orderId, surplus.length, history.unclearWithoutKey)),
        ],
      };
    },
  };
}

function isInWindow(createdAt: number, { window }: History): boolean {
  if (window === undefined) return true;
  return createdAt >= window.from - STAMP_SLACK_MS && createdAt <= window.to + STAMP_SLACK_MS;
}

/** Which of them is the one too many is unknown: all are listed. */
function checkSurplus(orderId: string, surplus: number, unclear: number): Violation {
  if (surplus <= unclear) return { kind: 'recovered', orderId, detail: 'took effect, its client got no response' };
  return {
    kind: 'unexpected',
    orderId,
    detail:
      unclear === 0 ? 'no request asked for it' : `one of ${surplus} orders for ${unclear} requests without a response`,
  };
}
