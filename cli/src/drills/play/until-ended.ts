import type { PlaySession } from './player.ts';

const LOOK_EVERY_MS = 1_000;

/**
 * Waits for the end of a round whose solution has said that it is fixed. A second in which the machine was busy takes that back: it is said
 * again, as by a person who looks. The limit of the round ends this. Rejects when the signal aborts.
 */
export async function untilEnded({
  status,
  operator,
  clock,
  signal,
}: Pick<PlaySession, 'status' | 'operator' | 'clock' | 'signal'>): Promise<void> {
  for (let round = await status(); round.ended === undefined; round = await status()) {
    if (round.phase === 'on-call') await operator.run(['drill', 'fixed']);
    await clock.sleep(LOOK_EVERY_MS, signal);
  }
}
