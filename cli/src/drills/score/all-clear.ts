import { recordsOf } from '../journal/records.ts';
import { loseByHarm } from './failure.ts';
import { createPart, type Part } from './part.ts';
import type { Round } from './round.ts';
import { rubric } from './rubric.ts';

/** Nothing was wrong: to find that out, and to say so, is all. */
export function scoreAllClear(round: Round): Part {
  const { points, declared, blamed, undecided } = rubric.allClear;
  const { records, end } = round;
  const part = createPart('all-clear', points);
  const blames = recordsOf(records, 'blame');
  if (blames.length > 0) {
    part.lose(
      blamed,
      `${blames[0]?.component} was blamed, and nothing was wrong`,
      blames.map(({ seq }) => seq),
    );
  }
  const declares = recordsOf(records, 'declare');
  if (declares.length > 0) {
    part.lose(
      declared,
      'an incident was declared, and nothing was wrong',
      declares.map(({ seq }) => seq),
    );
  }
  loseByHarm(part, round);
  const given = recordsOf(records, 'all-clear')[0];
  if (given === undefined) part.lose(part.left() - undecided, 'no all-clear was given', [end.seq]);
  else loseByGuess(part, round, given.ms, given.seq);
  return part.done();
}

function loseByGuess(part: ReturnType<typeof createPart>, { records }: Round, givenMs: number, seq: number): void {
  const { guessed, lookForMs, sources } = rubric.allClear;
  const looks = recordsOf(records, 'look').filter(({ ms }) => ms <= givenMs);
  const asked = new Set(looks.map(({ source }) => source));
  const lookedMs = givenMs - (looks[0]?.ms ?? givenMs);
  if (asked.size >= sources && lookedMs >= lookForMs) return;
  const reason = `the all-clear came after ${Math.floor(lookedMs / 1000)} s and ${asked.size} sources; it takes ${lookForMs / 1000} s and ${sources}`;
  part.lose(guessed, reason, [seq]);
}
