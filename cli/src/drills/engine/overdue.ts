import { LATE_SHIPMENT_MS } from '../../slo/limits.ts';
import type { DrillPorts } from './ports.ts';

const LOOK_EVERY_MS = 2_000;

/** Counts confirmed orders of the round whose shipment is late or lost. */
export function createOverdueCount({ clock, unshipped }: Pick<DrillPorts, 'clock' | 'unshipped'>) {
  const confirmedAt = new Map<string, number>();
  let overdue = 0;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;

  async function look(ids: readonly string[]): Promise<void> {
    try {
      const missing = new Set(ids.length === 0 ? [] : await unshipped(ids));
      for (const id of ids) if (!missing.has(id)) confirmedAt.delete(id);
      overdue = missing.size;
    } catch {
      // While the database does not respond, what is overdue stays what it was: failed orders show the outage.
    }
  }

  return {
    add(orderId: string): void {
      confirmedAt.set(orderId, clock.now());
    },
    /** As of the last look, which this call begins again where it is long ago. */
    count(): number {
      const now = clock.now();
      if (looking === undefined && now - lookedAt >= LOOK_EVERY_MS) {
        lookedAt = now;
        const late = [...confirmedAt].filter(([, at]) => now - at >= LATE_SHIPMENT_MS).map(([id]) => id);
        looking = look(late).finally(() => {
          looking = undefined;
        });
      }
      return overdue;
    },
  };
}
