import { messageOf } from '../../errors.ts';
import { createControlClient } from '../../platform/control-client.ts';
import type { Project } from '../../platform/project.ts';
import { openFaults, undoFile } from '../../platform/undo-log.ts';
import { systemClock } from '../../shared/clock.ts';
import { createDrillClient } from '../drill-client.ts';
import type { Scenario } from '../format/schema.ts';
import { recordsOf } from '../journal/records.ts';
import { findLeaks, type SurfaceText } from '../leak/find-leaks.ts';
import { readSurfaces, unread } from '../leak/surfaces.ts';
import { operationsBack, readOperatorState } from '../live/restore.ts';
import { hasSymptomOf } from '../play/has-symptom.ts';
import { createOperator } from '../play/operator.ts';
import { type PlayedLine, playReference } from '../play/play-reference.ts';
import { type PlayedRound, pagesOf, playRound } from '../play/play-round.ts';
import { untilEnded } from '../play/until-ended.ts';
import { untilQuiet } from '../play/until-quiet.ts';
import type { ShownRound, StartRequest } from '../requests.ts';
import { isScore, scoreOf } from '../score/score.ts';
import { check, evaluateRound } from './evaluate.ts';
import type { TrialRecord } from './trial.ts';

export interface TrialOptions {
  /** With a platform that runs. */
  readonly project: Project;
  readonly scenario: Scenario;
  /** All of the clone. */
  readonly scenarios: readonly Scenario[];
  readonly seed?: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  onPlayed(line: PlayedLine): void;
}

/** Longer than any solution takes, shorter than a person would, ms. */
const LIMIT_MS = 480_000;
/** Decoys are drawn from this level on, so a round without a failure that has some is played at it. */
const [LOWEST_LEVEL, LEVEL_OF_DECOYS] = [1, 3];
const PLAYER = 'reference';

/**
 * Plays one round of a scenario by its reference solution on a running platform, and evaluates it. Surfaces are looked at while what was
 * injected is in effect: after the last line, while customers are looked at. Where the last line ends the round, it is before that line.
 */
export async function runTrial(options: TrialOptions): Promise<TrialRecord> {
  const { project, scenario, scenarios, signal } = options;
  const startedAt = systemClock.date();
  const began = systemClock.now();
  const base = {
    type: 'trial',
    scenario: scenario.id,
    platform: project.name,
    startedAt: startedAt.toISOString(),
  } as const;
  const tookMs = () => Math.round(systemClock.now() - began);
  await untilQuiet(project, signal);
  const before = await readOperatorState({ project, state: await stateOf(project) });
  const seen: Seen = { played: [], surfaces: undefined };
  let round: PlayedRound;
  try {
    round = await playRound({
      project,
      request: requestFor(options),
      clock: systemClock,
      play: (started) => play(started, seen, options),
      signal,
    });
  } catch (error) {
    signal.throwIfAborted();
    const unreverted = await unrevertedOn(project);
    const checks = [
      check('round', 'unknown', messageOf(error)),
      ...unreverted.map((one) => check('clean', 'fail', one)),
    ];
    return {
      ...base,
      tookMs: tookMs(),
      played: seen.played,
      leaks: [],
      ...(unreverted.length > 0 && { unreverted }),
      checks,
      isQuiet: false,
    };
  }
  const { records } = round.journal;
  const envelope = recordsOf(records, 'reveal')[0]?.envelope;
  const { surfaces } = seen;
  const isComplete = surfaces !== undefined && envelope !== undefined;
  const leaks = isComplete
    ? { found: findLeaks(surfaces, envelope), surfaces: surfaces.length, unread: unread(surfaces, scenario) }
    : undefined;
  const after = await readOperatorState({ project, state: await stateOf(project) });
  const unreverted = [...new Set([...(round.round.left ?? []), ...(await unrevertedOn(project))])];
  const left = [
    ...unreverted,
    ...(round.round.problems ?? []),
    ...operationsBack(before, after).map((operation) => `changed: ${JSON.stringify(operation)}`),
    ...(before.flags === after.flags ? [] : ['flags are not as before']),
    ...(before.shedPercent === after.shedPercent ? [] : [`${after.shedPercent} % of the orders are shed`]),
    ...(await leftOn(project)),
  ];
  const score = scoreOf(records);
  return {
    ...base,
    tookMs: tookMs(),
    round: round.round.id,
    ...(isScore(score) && { points: score.points }),
    played: seen.played,
    leaks: leaks?.found ?? [],
    ...(unreverted.length > 0 && { unreverted }),
    checks: evaluateRound({ scenario, journal: round.journal, played: seen.played, leaks, left, scenarios }),
    // What a void round says afterwards would be a leak in the next one.
    isQuiet: isScore(score) && left.length === 0 && (await pagesOf(project)).length === 0,
  };
}

interface Seen {
  played: readonly PlayedLine[];
  surfaces: readonly SurfaceText[] | undefined;
}

function requestFor({ scenario, seed }: TrialOptions): StartRequest {
  const ownLevel = scenario.decoys.length > 0 ? LEVEL_OF_DECOYS : LOWEST_LEVEL;
  return {
    level: scenario.level === 0 ? ownLevel : scenario.level,
    limitMs: LIMIT_MS,
    hints: false,
    trainee: PLAYER,
    scenario: scenario.id,
    ...(seed !== undefined && { seed }),
  };
}

async function play({ id }: ShownRound, seen: Seen, options: TrialOptions): Promise<void> {
  const { project, scenario, env, signal } = options;
  const operator = createOperator({ project, env, signal });
  const client = createDrillClient(project);
  const ports = {
    clock: systemClock,
    operator,
    async pages() {
      const { ended } = await client.status();
      if (ended !== undefined) throw new Error(`the round is over: ${ended.reason}`);
      return pagesOf(project);
    },
    awaited: scenario.pages,
    hasSymptom: hasSymptomOf(scenario, project),
    signal,
    onPlayed: options.onPlayed,
  };
  const look = async () => {
    seen.surfaces = await readSurfaces({ round: id, project, operator, signal });
  };
  const endsRound = scenario.reference.at(-1)?.startsWith('drill all-clear') === true;
  const lines = endsRound ? scenario.reference.slice(0, -1) : scenario.reference;
  seen.played = await playReference(lines, ports);
  const failed = seen.played.find(({ problem }) => problem !== undefined);
  if (failed === undefined) await look();
  if (failed === undefined && endsRound) {
    seen.played = [...seen.played, ...(await playReference(scenario.reference.slice(-1), ports))];
  }
  // It would go on until its limit.
  if (failed !== undefined) await operator.run(['drill', 'give-up']);
  else await untilEnded({ status: () => client.status(), operator, clock: systemClock, signal });
}

async function stateOf(project: Project) {
  const state = await createControlClient(project).state();
  return () => state;
}

/** What is not as on a platform that nothing was done to. */
async function leftOn(project: Project): Promise<readonly string[]> {
  const { instances } = await createControlClient(project).state();
  return instances.filter(({ status }) => status !== 'ready').map(({ name, status }) => `${name} is ${status}`);
}

/** Faults that are left, those of the round too. From the disk: a supervisor shows none of a round, and may be what has failed. */
async function unrevertedOn(project: Project): Promise<readonly string[]> {
  const faults = await openFaults(undoFile(project));
  return faults.map(({ fault, target }) => `${fault} acts on ${target}`);
}

/** Why a running platform cannot have a scenario; undefined where it can. */
export function whyNot(
  { needs }: Pick<Scenario, 'needs'>,
  state: { readonly replicas: Readonly<Record<string, number>> },
): string | undefined {
  const missing = Object.entries(needs.replicas).find(([name, count]) => (state.replicas[name] ?? 1) < count);
  return missing === undefined ? undefined : `it needs ${missing[1]} replicas of ${missing[0]}`;
}
