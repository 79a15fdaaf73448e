import type { Style } from '../output/style.ts';
import { formatDuration } from '../shared/duration.ts';
import type { ShownRound } from './requests.ts';
import { rubric } from './score/rubric.ts';

const PHASES: Readonly<Record<ShownRound['phase'], string>> = {
  starting: 'starting: the platform has to serve for 10 s',
  'on-call': 'you are on call',
  checking: 'customers are looked at for a minute',
  ended: 'over',
};

/** A round for its trainee; the same lines whatever happens in it. */
export function renderRound(round: ShownRound, style: Style): string {
  const { id, phase, commitment, level, strength, elapsedMs, limitMs, tries, hintPoints, ended } = round;
  const lines = [
    `${style.bold(`drill ${id}`)}  level ${level}, ${strength}`,
    `state        ${ended === undefined ? PHASES[phase] : `over (${ended.why}): ${ended.reason}`}`,
    `time         ${formatDuration(Math.min(elapsedMs, limitMs))} of ${formatDuration(limitMs)}`,
    `diagnoses    ${tries} of ${rubric.diagnose.tries} used`,
    `hints        ${hintPoints === 0 ? 'none taken' : `-${hintPoints} points`}`,
    `commitment   ${commitment}`,
  ];
  for (const left of round.left ?? []) lines.push(`${style.red('left')}         ${left}`);
  for (const problem of round.problems ?? []) lines.push(`${style.yellow('problem')}      ${problem}`);
  if (round.hash !== undefined) lines.push(`last hash    ${round.hash}`);
  if (ended !== undefined && round.hash !== undefined) lines.push('next         shopctl drill debrief');
  return lines.join('\n');
}
