import type { ShadowOutcome, ShippedRows } from '@shop/kit/shadow.ts';
import type { RunClock } from '../../shared/clock.ts';
import { tripped, unobserved } from '../trip.ts';
import { compareOutcome } from './compare.ts';

/** Where outcomes are read. Both reject with Trip where they cannot be read. */
export interface ShadowSource {
  outcomesAfter(number: number): Promise<readonly ShadowOutcome[]>;
  /** What was written for these messages, by their ids. */
  served(messageIds: readonly string[]): Promise<ReadonlyMap<string, ShippedRows>>;
}

/** Messages that have to be compared. One in twenty that differs is then found in two of three cases. */
export const LEAST_MESSAGES = 20;
const EVERY_MS = 500;

/**
 * Compares messages for `keepMs`. Resolves with what was found; rejects with Trip at the first difference, and at the end where
 * too few messages, or one of them, could not be compared.
 */
export async function watchShadow(
  source: ShadowSource,
  { keepMs, clock }: { readonly keepMs: number; readonly clock: RunClock },
  signal: AbortSignal,
): Promise<string> {
  const endsAt = clock.now() + keepMs;
  const unknown: string[] = [];
  let seen = 0;
  let same = 0;
  for (;;) {
    const isLast = clock.now() >= endsAt;
    const outcomes = await source.outcomesAfter(seen);
    const ids = outcomes.flatMap(({ messageId }) => (messageId === null ? [] : [messageId]));
    const served = await source.served(ids);
    for (const outcome of outcomes) {
      const found = compareOutcome(outcome, served.get(outcome.messageId ?? ''));
      if (found.kind === 'different') throw tripped('shadow', found.what);
      if (found.kind === 'unknown') unknown.push(found.why);
      else same += 1;
    }
    seen = outcomes.at(-1)?.number ?? seen;
    if (isLast) break;
    await clock.sleep(Math.min(EVERY_MS, Math.max(endsAt - clock.now(), 1)), signal);
  }
  if (unknown.length > 0) throw unobserved(`${unknown[0]} (${unknown.length} of ${unknown.length + same} messages)`);
  if (same < LEAST_MESSAGES) throw unobserved(`${same} messages were compared, and ${LEAST_MESSAGES} are needed`);
  return `${same} messages: each would have written what was written`;
}
