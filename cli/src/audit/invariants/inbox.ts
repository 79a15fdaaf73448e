import { formatCount } from '../../output/units.ts';
import type { OrderFacts } from '../facts.ts';
import { isOrderWithinHorizon } from '../horizon.ts';
import { type Clock, type Finding, NO_FINDINGS, type OrderInvariant, violated } from '../invariant.ts';

/** I8: a message is in the inbox once, it was published, and every shipment came from one. */
export const inboxMatches: OrderInvariant = {
  id: 'I8',
  title: 'one inbox row per message',
  needs: ['orders', 'shipping'],
  compares: ['inbox', 'shipments'],
  start(clock) {
    const tally = { messages: 0, shipments: 0 };
    return {
      add(facts) {
        tally.messages += facts.inbox.length;
        tally.shipments += facts.shipments.length;
        return check(facts, clock);
      },
      evidence: () => `${formatCount(tally.messages)} messages for ${formatCount(tally.shipments)} shipments`,
    };
  },
};

function check({ order, outbox, inbox, shipments }: OrderFacts, clock: Clock): Finding {
  const ids = inbox.map(({ messageId }) => messageId);
  const repeated = ids.find((id, index) => ids.indexOf(id) !== index);
  if (repeated !== undefined) return violated('duplicated', `message ${repeated} was taken more than once`);
  if (shipments.length > 0 && inbox.length === 0) return violated('lost', 'a shipment without an inbox row');
  if (order === undefined) return checkStray({ inbox, shipments });
  // Of an older order either version of the event may be deleted before the other.
  if (outbox.length === 0 || !isOrderWithinHorizon(order, clock.at)) return NO_FINDINGS;
  const unknown = inbox.find(({ messageId }) => !outbox.some((event) => event.messageId === messageId));
  return unknown === undefined
    ? NO_FINDINGS
    : violated('unexpected', `message ${unknown.messageId} (${unknown.type}) is not of the outbox`);
}

/** A shipment for no order is the business of I7. */
function checkStray({ inbox, shipments }: Pick<OrderFacts, 'inbox' | 'shipments'>): Finding {
  const [message] = inbox;
  if (message === undefined || shipments.length > 0) return NO_FINDINGS;
  return violated('unexpected', `message ${message.messageId} (${message.type}) is about no order`);
}
