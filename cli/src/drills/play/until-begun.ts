import type { RunClock } from '../../shared/clock.ts';
import type { ShownRound } from '../requests.ts';

const LOOK_EVERY_MS = 500;

/**
 * Waits until the platform of a round is steady: what a program sees before that is of the platform's start, and its times would count from
 * there. Resolves to false where the round is over instead. Rejects when the signal aborts.
 */
export async function untilBegun(
  status: () => Promise<Pick<ShownRound, 'phase' | 'ended'>>,
  { clock, signal }: { readonly clock: RunClock; readonly signal: AbortSignal },
): Promise<boolean> {
  let round = await status();
  while (round.phase === 'starting' && round.ended === undefined) {
    await clock.sleep(LOOK_EVERY_MS, signal);
    round = await status();
  }
  return round.ended === undefined;
}
