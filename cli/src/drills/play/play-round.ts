import { messageOf } from '../../errors.ts';
import { createPagerClient } from '../../pager/pager-client.ts';
import type { Project } from '../../platform/project.ts';
import type { RunClock } from '../../shared/clock.ts';
import { createDrillClient, type DrillClient } from '../drill-client.ts';
import { type ReadDrillJournal, readDrillJournal } from '../journal/journal-file.ts';
import { isOfRound } from '../live/alerts-of-round.ts';
import type { ShownRound, StartRequest } from '../requests.ts';
import { journalOf } from '../rounds.ts';
import { untilBegun } from './until-begun.ts';

/** A round from its start to its end, with a program as its player. */
export interface RoundToPlay {
  readonly project: Project;
  readonly request: StartRequest;
  readonly clock: RunClock;
  /** Plays the round, which has begun. It may resolve before the round is over, and may fail. */
  play(round: ShownRound): Promise<void>;
  readonly signal: AbortSignal;
}

export interface PlayedRound {
  readonly round: ShownRound;
  readonly journal: ReadDrillJournal;
  /** Of the journal. */
  readonly file: string;
}

const LOOK_EVERY_MS = 500;
/** Of the end of a round: what was injected and changed is reverted, and orders are compared, ms. */
const END_LIMIT_MS = 180_000;

/**
 * Starts a round, has it played, and resolves when it is over and reverted. A round whose player fails, or which is interrupted, is aborted;
 * this rejects then.
 */
export async function playRound({ project, request, clock, play, signal }: RoundToPlay): Promise<PlayedRound> {
  const client = createDrillClient(project);
  const started = await client.start(request);
  try {
    if (await untilBegun(() => client.status(), { clock, signal })) await play(started);
    await untilOver(client, request.limitMs + END_LIMIT_MS, { clock, signal });
  } catch (error) {
    await endIfOn(client, request.trainee);
    throw error;
  }
  const file = journalOf(project, started.id);
  return { round: await client.status(), journal: await readDrillJournal(file), file };
}

/** The names of pages and tickets that fire for a trainee. */
export async function pagesOf(project: Project): Promise<readonly string[]> {
  const { alerts } = await createPagerClient(project).view();
  const forPeople = alerts.filter(({ alertname, severity }) => isOfRound(alertname, severity));
  return [...new Set(forPeople.map(({ alertname }) => alertname))];
}

/** Its limit ends a round at the latest. */
async function untilOver(
  client: DrillClient,
  limitMs: number,
  { clock, signal }: Pick<RoundToPlay, 'clock' | 'signal'>,
): Promise<void> {
  const deadline = clock.now() + limitMs;
  while ((await client.status()).hash === undefined) {
    if (clock.now() >= deadline) throw new Error('the round has ended, and was not closed');
    await clock.sleep(LOOK_EVERY_MS, signal);
  }
}

async function endIfOn(client: DrillClient, by: string): Promise<void> {
  const { ended } = await client.status();
  if (ended !== undefined) return;
  await client.ask('end', { why: 'aborted', by }).catch((error: unknown) => {
    throw new Error(`the round could not be aborted: ${messageOf(error)}`, { cause: error });
  });
}
