import type { FaultPlan, MessageFault } from './faults.ts';
import type { Journal } from './journal.ts';
import { shortId } from './orders-store.ts';
import type { VirtualTime } from './virtual-time.ts';

export interface ShippingDefects {
  readonly noInbox?: boolean;
}

/** When a message whose delivery failed is delivered again. */
const REDELIVER_MS = 300;

/**
 * The broker's queue and the shipping service behind it: at least once, in any order. A delivery is lost before or after
 * the consumer's commit, delayed, or doubled; what was not acknowledged comes again.
 */
export function createShippingModel(options: {
  time: VirtualTime;
  plan: FaultPlan;
  journal: Journal;
  defects: ShippingDefects;
}) {
  const { time, plan, journal, defects } = options;
  const inbox = new Set<string>();
  const shipments: string[] = [];
  let queued = 0;

  function handle(messageId: string, orderId: string): void {
    if (inbox.has(messageId) && !defects.noInbox) return;
    inbox.add(messageId);
    shipments.push(orderId);
    journal.note('shipping', `${shortId(orderId)} shipped`);
  }

  function deliver(messageId: string, orderId: string): void {
    const fault = plan.next<MessageFault>('deliver');
    if (fault !== undefined) journal.note('broker', `deliver ${shortId(orderId)}: ${fault.kind}`);
    if (fault !== undefined && 'ms' in fault) later(fault.ms, messageId, orderId);
    const lost = fault?.kind === 'refuse' || fault?.kind === 'lose request';
    if (lost) later(REDELIVER_MS, messageId, orderId);
    if (lost || fault?.kind === 'delay request') return;
    handle(messageId, orderId);
    if (fault?.kind === 'lose reply' || fault?.kind === 'half done') later(REDELIVER_MS, messageId, orderId);
  }

  function later(ms: number, messageId: string, orderId: string): void {
    queued += 1;
    time.after(ms, () => {
      queued -= 1;
      deliver(messageId, orderId);
    });
  }

  return {
    shipments: shipments as readonly string[],
    get queued() {
      return queued;
    },
    /** The broker takes a message; it reaches the consumer in a moment. */
    enqueue: (messageId: string, orderId: string) => later(1, messageId, orderId),
  };
}

export type ShippingModel = ReturnType<typeof createShippingModel>;
