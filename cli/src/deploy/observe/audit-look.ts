import type { RecentLook, RecentViolation } from '../../audit/recent.ts';
import { messageOf } from '../../errors.ts';
import type { GuardReading } from '../analysis/guards.ts';
import { reads } from './seen.ts';

const EVERY_MS = 10_000;

/** Reads whether orders since the beginning of a rollout violate an invariant. */
export interface AuditGuard {
  read(at: number): GuardReading;
}

/** Orders are audited in the background, because that takes longer than the time between two readings. */
export function createAuditGuard(look: (sinceMs: number) => Promise<RecentLook>, startedAt: number): AuditGuard {
  let looking = false;
  let nextAt = startedAt;
  let known: ReadonlySet<string> | undefined;
  let found: ((at: number) => GuardReading) | undefined;

  async function lookOnce(at: number): Promise<void> {
    looking = true;
    try {
      const recent = await look(startedAt);
      // Stock has no time at which it went wrong: what was so at the first look was so before.
      known ??= new Set(recent.violations.filter(({ placedAt }) => placedAt === undefined).map(keyOf));
      found = resultOf(recent, known);
    } catch (error) {
      found = (now) => reads('audit', now)('unknown', `the orders cannot be audited: ${messageOf(error)}`);
    } finally {
      looking = false;
      nextAt = at + EVERY_MS;
    }
  }

  return {
    read(at) {
      if (!looking && at >= nextAt) void lookOnce(at);
      return found?.(at) ?? reads('audit', at)('unknown', 'the orders have not been audited yet');
    },
  };
}

function resultOf({ orders, violations, unknown }: RecentLook, before: ReadonlySet<string>) {
  const own = violations.filter((one) => one.placedAt !== undefined || !before.has(keyOf(one)));
  return (at: number): GuardReading => {
    const reading = reads('audit', at);
    const [first] = own;
    if (first !== undefined) {
      const which = first.orderId === undefined ? '' : ` (order ${first.orderId})`;
      return reading('tripped', `${own.length} violations, of ${first.invariant}: ${first.detail}${which}`);
    }
    if (unknown.size > 0) return reading('unknown', [...unknown].map(([id, why]) => `${id}: ${why}`).join('; '));
    return reading('held', `${orders} orders of the rollout without a violation`);
  };
}

const keyOf = ({ invariant, kind, subject = '', orderId = '' }: RecentViolation) =>
  [invariant, kind, subject, orderId].join(' ');
