import type { Release } from '../platform/release.ts';
import { replicasFor, weightsFor } from './analysis/weights.ts';
import { type Canary, causeOfVerdict } from './canary.ts';
import type { Current, NewRecord } from './current.ts';
import type { CanaryObserver } from './observe/seen.ts';
import type { CanaryTerms, Cause, DatedVerdict, DeployState, WeightsChange } from './run.ts';
import { Trip } from './trip.ts';
import type { Work } from './work.ts';

/** A canary that is carried out. */
export interface Rollout {
  readonly terms: CanaryTerms;
  readonly canary: Canary;
  readonly observer: CanaryObserver;
  readonly current: Current;
  readonly work: Work;
  readonly release: Release;
  readonly host: RolloutHost;
}

/** What the engine does for one deploy: its journal, its guards and its clock. */
export interface RolloutHost {
  /** Resolves when the state is on disk. */
  to(state: DeployState, cause?: Cause): Promise<void>;
  step(text: string): Promise<void>;
  append(what: NewRecord): Promise<void>;
  /** Work that ends when `check` rejects, or the deploy is rolled back. */
  guarded(task: (signal: AbortSignal) => Promise<void>, check: () => Promise<void>): Promise<void>;
  /** Until the next look. */
  pause(): Promise<void>;
  readonly lookEveryMs: number;
}

/** What is left to the release of before while a canary that was promoted is watched: so its failures can be compared. */
const KEPT_SHARE = 0.05;

/** The steps of the plan, up to the promotion. */
export async function evaluateRollout(rollout: Rollout): Promise<void> {
  const { terms, observer, current, work, release, host } = rollout;
  await host.to('analysis');
  if (terms.plan.baseline === 'fresh') {
    await host.step('start a replica of the release of before, of the same age');
    await work.stageBaseline(current.over.signal);
  }
  await observer.start(work.arms());
  for (const [index, { share }] of terms.plan.steps.entries()) {
    await grow(rollout, replicasFor(share, work.old.length));
    await weigh(rollout, { reason: 'step', step: index + 1, share });
    if ((await decided(rollout)) === 'promoted') break;
  }
  current.isPromoted = false;
  await host.to('shifting');
  await grow(rollout, work.old.length);
  await weigh(rollout, { reason: 'promoted', step: terms.plan.steps.length, share: 1 - KEPT_SHARE });
  await work.unstageBaseline();
  await host.step(`promoted: ${work.staged.join(', ')} serve on, release ${release.version}`);
}

/** The calls that are left to the release of before go on to be compared. */
export async function keepRollout(rollout: Rollout, keepMs: number): Promise<void> {
  const { current, terms, host } = rollout;
  await host.to('kept');
  let leftMs = keepMs;
  while (!current.isPromoted && (leftMs > 0 || current.isPaused)) {
    const dated = await look(rollout);
    if (dated.verdict.decision === 'rollback') {
      await host.append({ kind: 'verdict', ...dated });
      const cause = causeOfVerdict(dated.verdict);
      if (terms.onFailure === 'rollback') throw new Trip(cause);
      await hold(rollout, cause, { isFrozen: true });
      await host.to('kept');
      return;
    }
    await host.pause();
    if (!current.isPaused) leftMs -= host.lookEveryMs;
  }
}

/** As many replicas of the canary as its share takes. They are evaluated meanwhile. */
async function grow(rollout: Rollout, count: number): Promise<void> {
  const { work, observer, terms, host } = rollout;
  const missing = count - work.staged.length;
  if (missing <= 0) return;
  await host.step(`start ${missing} more of the canary`);
  const check = async () => {
    // Frozen, it has all its time: what it saw is seen again in the next look.
    if (work.hasCalls && terms.onFailure === 'rollback') await condemnIfWorse(rollout);
  };
  await host.guarded((signal) => work.stageMore(missing, signal), check);
  observer.arms(work.arms());
}

async function condemnIfWorse(rollout: Rollout): Promise<void> {
  const dated = await look(rollout);
  if (dated.verdict.decision !== 'rollback') return;
  await rollout.host.append({ kind: 'verdict', ...dated });
  throw new Trip(causeOfVerdict(dated.verdict));
}

function look({ canary, current }: Rollout): Promise<DatedVerdict> {
  current.over.signal.throwIfAborted();
  return canary.look();
}

async function weigh({ current, work, host }: Rollout, change: Omit<WeightsChange, 'weights'>): Promise<void> {
  current.over.signal.throwIfAborted();
  const weights = weightsFor(change.share, work.arms(change.reason === 'promoted'));
  const percent = Number((change.share * 100).toPrecision(6));
  await host.step(`${percent} % of the requests to ${work.staged.join(', ')}`);
  // Before the callers read it: what they send from then on belongs to this share.
  await host.append({ kind: 'weights', ...change, weights });
  await work.weigh(weights);
}

/** Waits until a step has what it needs. */
async function decided(rollout: Rollout): Promise<'step' | 'promoted'> {
  const { current, terms, host } = rollout;
  for (;;) {
    const dated = await look(rollout);
    const { decision } = dated.verdict;
    if (current.isPromoted) return 'promoted';
    const isDecided = decision === 'rollback' || (!current.isPaused && decision !== 'hold');
    if (isDecided) {
      await host.append({ kind: 'verdict', ...dated });
      if (decision === 'step') return 'step';
      if (decision === 'promote') return 'promoted';
      const cause = causeOfVerdict(dated.verdict);
      const isFrozen = decision === 'rollback' && terms.onFailure === 'freeze';
      if (!isFrozen && (decision === 'rollback' || terms.onInconclusive === 'rollback')) throw new Trip(cause);
      await hold(rollout, cause, { isFrozen });
      return 'promoted';
    }
    await host.pause();
  }
}

/** An operator has to decide. What was inconclusive is evaluated meanwhile, and is rolled back where it turns out worse. */
async function hold(rollout: Rollout, cause: Cause, { isFrozen }: { isFrozen: boolean }): Promise<void> {
  const { current, terms, host } = rollout;
  current.isPaused = false;
  current.isPromoted = false;
  await host.to('held', cause);
  while (!current.isPromoted) {
    if (terms.onFailure === 'rollback' && !isFrozen) await condemnIfWorse(rollout);
    else await look(rollout);
    await host.pause();
  }
}
