import { serviceNames } from '../../topology/services.ts';
import { components, mechanisms, scopes } from '../format/vocabulary.ts';
import { rubric } from '../score/rubric.ts';
import { uniform } from '../seal/uniform.ts';
import { hasSymptomOf } from './has-symptom.ts';
import type { NamedPlayer, Player, PlaySession } from './player.ts';
import { playLines } from './script-player.ts';
import { untilEnded } from './until-ended.ts';

/** A baseline with what its points must be, over all rounds with a failure. */
export interface Baseline extends NamedPlayer {
  readonly bound: { readonly atMost: number } | { readonly atLeast: number };
}

const LOOK_EVERY_MS = 1_000;

/** Players without any skill, which bound the scale, and the solutions of the scenarios. */
export const baselines: readonly Baseline[] = [
  { name: 'noop', bound: { atMost: 20 }, playerFor: () => untilOver },
  { name: 'restart-everything', bound: { atMost: 40 }, playerFor: () => restartEverything },
  { name: 'random-blame', bound: { atMost: 30 }, playerFor: (_, seed) => (session) => blameAtRandom(session, seed) },
  {
    name: 'reference',
    bound: { atLeast: 95 },
    playerFor: (scenario) => async (session) => {
      const known = { awaited: scenario.pages, hasSymptom: hasSymptomOf(scenario, session.project) };
      if (await playLines(scenario.reference, session, known)) await untilEnded(session);
    },
  },
];

/** Does nothing until the limit. */
const untilOver: Player = async ({ clock, signal }) => {
  while (!signal.aborted) await clock.sleep(LOOK_EVERY_MS, signal).catch(() => undefined); // Over: checked next.
};

/** Acknowledges the first page, restarts every service, and says that it is fixed. */
const restartEverything: Player = async (session) => {
  await untilPage(session);
  for (const words of [['drill', 'ack'], ...serviceNames.map((name) => ['restart', name]), ['drill', 'fixed']]) {
    if (session.signal.aborted) return;
    await session.operator.run(words);
  }
  await untilOver(session);
};

/** Names three random causes when a page fires, and does nothing else. */
async function blameAtRandom(session: PlaySession, seed: string): Promise<void> {
  await untilPage(session);
  for (let index = 0; index < rubric.diagnose.tries && !session.signal.aborted; index++) {
    await session.operator.run(['drill', 'blame', ...randomBlame(seed, index)]);
  }
  await untilOver(session);
}

/** The n-th diagnosis of a seed. Pure. */
export function randomBlame(seed: string, index: number): readonly string[] {
  const one = (words: readonly string[], label: string) =>
    words[Math.floor(uniform(seed, `${label} ${index}`) * words.length)] ?? 'none';
  return [
    ...['--component', one(components, 'component')],
    ...['--mechanism', one(mechanisms, 'mechanism')],
    ...['--scope', one(scopes, 'scope')],
  ];
}

async function untilPage({ pages, clock, signal }: PlaySession): Promise<void> {
  while (!signal.aborted && (await pages()).length === 0) {
    await clock.sleep(LOOK_EVERY_MS, signal).catch(() => undefined); // Over: checked next.
  }
}
