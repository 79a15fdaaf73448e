import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import { messageOf } from './failures.ts';
import type { Track } from './release.ts';
import { trackOfKey } from './track-of-key.ts';
import type { Upstream } from './upstreams.ts';

/** One of several processes that serve the same calls. */
export interface Replica {
  /** For logs, e.g. `127.0.0.1:4001`. */
  readonly address: string;
  /** It has announced that it closes: other replicas are preferred. */
  readonly isDraining?: boolean;
  /** Rejects while it does not respond, and when `signal` aborts. */
  check(signal: AbortSignal): Promise<void>;
}

/** A replica with its place among the others. */
export interface Placed<R> extends Pick<Upstream, 'weight' | 'track' | 'state'> {
  readonly replica: R;
  readonly version?: string | undefined;
}

/** What a choice was made of, for metrics. */
export interface Drawn {
  readonly track: Track;
  readonly version: string | undefined;
  /**
   * The canary's part of the tracks that the choice was drawn from, from 0 to 1. Undefined where there was nothing to draw: no
   * canary, nothing beside it, or a choice for another reason than its weight.
   */
  readonly canaryShare: number | undefined;
}

/** Why a replica was ejected: consecutive calls failed, it refused a connection, or it failed a health probe. */
export const EJECTION_CAUSES = ['failures', 'refused', 'probe'] as const;
export type EjectionCause = (typeof EJECTION_CAUSES)[number];

/** Called at each ejection and return of a replica. */
export interface PickerEvents<R> {
  ejected(replica: R, cause: EjectionCause, detail?: string): void;
  returned(replica: R): void;
}

/** Chooses a replica for each attempt. */
export interface ReplicaPicker<R> extends Disposable {
  /**
   * The next of the good replicas: not ejected, not draining, no connection lost since their last probe. Each is chosen by its
   * weight, in turn (smooth weighted round robin). Of several tracks one is drawn, by the `key` (track-of-key.ts) or at random
   * without one, and its replicas are chosen in turn. Prefers one that was not tried; where none is good, any. Where replicas
   * are of the `wanted` track it is one of them, whatever their weight is.
   */
  pick(tried: ReadonlySet<R>, key?: string, wanted?: Track): R;
  /** Of the last `pick`. */
  readonly drawn: Drawn;
  /** The replicas from now on, one at least. Of those that stay all that is known of them is kept. */
  update(placed: readonly Placed<R>[]): void;
  /** How many are ejected now. */
  readonly ejected: number;
  responded(replica: R): void;
  failed(replica: R): void;
  /** It refused the connection, so nothing was sent. */
  refused(replica: R): void;
  /** A connection to it broke: it is probed, and the others are picked until it responds. */
  lost(replica: R): void;
}

export interface PickerLimits {
  /** Consecutive failed calls that eject a replica. */
  readonly failures: number;
  /** An ejected replica whose probes succeed is tried with one call this often, in ms. */
  readonly trialEveryMs: number;
}

/** With the probe's timeout this detects a frozen replica within 1.5 s. A replica that is back is used after it at the latest. */
export const PROBE_EVERY_MS = 500;
const PROBE_TIMEOUT_MS = 1_000;

/** How well a replica suits a call; the least is chosen. */
const Rank = {
  /** Ejected for its failures, and due to be tried with one call. */
  trial: 0,
  good: 1,
  /** Good, but this call has failed there. */
  tried: 2,
  /** It responds, and is to be sent nothing: it drains, or has the weight 0. */
  spare: 3,
  ejected: 4,
  ejectedSpare: 5,
  any: 6,
} as const;
type Rank = (typeof Rank)[keyof typeof Rank];

interface Member<R> {
  placed: Placed<R>;
  /** Failed calls since the last response. */
  row: number;
  /** Ejected for its failures: when a call may try it next, on the monotonic clock. */
  trialAt: number | undefined;
  /** Ejected because it is unreachable: until a probe succeeds. */
  isDown: boolean;
  /** A connection broke: it may have ended, which a proxy before it hides. */
  isSuspect: boolean;
  isProbed: boolean;
  /** What it has gained and not paid yet (see `nextAmong`). */
  credit: number;
  /** In the choice that is being made. */
  rank: Rank;
}

function newMember<R>(placed: Placed<R>): Member<R> {
  return {
    placed,
    row: 0,
    trialAt: undefined,
    isDown: false,
    isSuspect: false,
    isProbed: false,
    credit: 0,
    rank: Rank.any,
  };
}

const isEjected = ({ isDown, trialAt }: Member<unknown>) => isDown || trialAt !== undefined;

function rankOf<R extends Replica>(member: Member<R>, tried: ReadonlySet<R>): Rank {
  const { replica, weight, state } = member.placed;
  const isTried = tried.has(replica);
  const isWanted = weight > 0 && state === 'active' && replica.isDraining !== true;
  if (!isEjected(member) && !member.isSuspect) {
    if (isWanted) return isTried ? Rank.tried : Rank.good;
    return isTried ? Rank.any : Rank.spare;
  }
  if (isTried) return Rank.any;
  if (!isWanted) return Rank.ejectedSpare;
  const isDue = !member.isDown && member.trialAt !== undefined && member.trialAt <= performance.now();
  return isDue ? Rank.trial : Rank.ejected;
}

type TrackWeights = readonly (readonly [Track, number])[];

const sumOf = (weights: TrackWeights) => weights.reduce((sum, [, weight]) => sum + weight, 0);

/** Turns would send the same share to each track, but which request goes where would follow from the order in which they come. */
function trackAtRandom(weights: TrackWeights): Track | undefined {
  let left = Math.random() * sumOf(weights);
  for (const [track, weight] of weights) {
    left -= weight;
    if (left < 0) return track;
  }
  return weights.at(-1)?.[0];
}

function canaryShareOf(weights: TrackWeights): number | undefined {
  const canary = weights.find(([track]) => track === 'canary');
  return canary === undefined || weights.length < 2 ? undefined : canary[1] / sumOf(weights);
}

/**
 * Outlier ejection: a replica is ejected when it refuses a connection, fails `failures` consecutive calls, or fails a
 * health probe. A broken connection triggers a probe: until it succeeds the other replicas are picked. An unreachable
 * replica returns with its next successful probe. One whose calls failed although its probes succeed returns when a
 * call succeeds: one is sent there every `trialEveryMs`. Where all are ejected all are used. The breaker decides
 * whether a call may be sent at all, and a late probe on a loaded machine must not cause an outage. Probes are sent
 * where there is a choice, or an ejected replica. Source:
 * https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/upstream/outlier
 */
export function createReplicaPicker<R extends Replica>(
  placed: readonly Placed<R>[],
  limits: PickerLimits,
  events: PickerEvents<R>,
): ReplicaPicker<R> {
  let members: readonly Member<R>[] = [];
  const memberOf = new Map<R, Member<R>>();
  /** The sum of the weights of each track that is sent calls. */
  const trackWeights = new Map<Track, number>();
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  let last: Placed<R>;
  let canaryShare: number | undefined;

  function update(now: readonly Placed<R>[]): void {
    if (now.length === 0) throw new RangeError('a picker needs a replica');
    members = now.map((one) => Object.assign(memberOf.get(one.replica) ?? newMember(one), { placed: one, credit: 0 }));
    memberOf.clear();
    trackWeights.clear();
    for (const member of members) {
      const { replica, track, weight, state } = member.placed;
      memberOf.set(replica, member);
      if (state === 'active' && weight > 0) trackWeights.set(track, (trackWeights.get(track) ?? 0) + weight);
    }
    watch();
  }

  /** Runs `change` and reports an ejection or return of the replica. One that was removed while a call was in flight has none. */
  function note(replica: R, change: (member: Member<R>) => EjectionCause | undefined, detail?: string): void {
    const member = memberOf.get(replica);
    if (member === undefined) return;
    const wasEjected = isEjected(member);
    const cause = change(member);
    if (!wasEjected && cause !== undefined) events.ejected(replica, cause, detail);
    if (wasEjected && !isEjected(member)) events.returned(replica);
    watch();
  }

  function down(replica: R, cause: EjectionCause, detail?: string): void {
    note(
      replica,
      (member) => {
        member.isDown = true;
        return cause;
      },
      detail,
    );
  }

  async function probe(member: Member<R>): Promise<void> {
    if (member.isProbed) return;
    member.isProbed = true;
    const { replica } = member.placed;
    const time = new AbortController();
    const late = setTimeout(() => time.abort(new Error(`no response in ${PROBE_TIMEOUT_MS} ms`)), PROBE_TIMEOUT_MS);
    try {
      await replica.check(time.signal);
      member.isSuspect = false;
      if (!member.isDown) return;
      note(replica, () => {
        member.isDown = false;
        member.row = 0;
        member.trialAt = undefined;
        return undefined;
      });
    } catch (error) {
      down(replica, 'probe', messageOf(error));
    } finally {
      clearTimeout(late);
      member.isProbed = false;
    }
  }

  function watch(): void {
    const isNeeded = !isOver && (members.length > 1 || members.some(isEjected));
    if (!isNeeded) stop();
    // Started in the context of the failed call, it would continue that call's trace.
    else timer ??= context.with(ROOT_CONTEXT, () => setInterval(probeAll, PROBE_EVERY_MS).unref());
  }

  function probeAll(): void {
    for (const member of members) void probe(member);
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
  }

  /** The member of the least rank that is next in turn; with a key, within the key's track. */
  function choose(tried: ReadonlySet<R>, key: string | undefined, wanted: Track | undefined): Member<R> {
    const only = members.some(({ placed: { track } }) => track === wanted) ? wanted : undefined;
    let least: Rank = Rank.any;
    for (const member of members) {
      if (only !== undefined && member.placed.track !== only) continue;
      member.rank = rankOf(member, tried);
      if (member.rank < least) least = member.rank;
    }
    const weights = only === undefined && trackWeights.size > 1 ? weightsAmong(least) : [];
    const track = only ?? (key === undefined ? trackAtRandom(weights) : trackOfKey(key, weights));
    canaryShare = least === Rank.good ? canaryShareOf(weights) : undefined;
    const among = (member: Member<R>) =>
      member.rank === least && (track ?? member.placed.track) === member.placed.track;
    return nextAmong(among);
  }

  /** Of the tracks that have a member of this rank. What the others weigh does not depend on who is ejected. */
  function weightsAmong(rank: Rank): TrackWeights {
    const isAmong = (track: Track) => members.some((member) => member.rank === rank && member.placed.track === track);
    return [...trackWeights].filter(([track]) => isAmong(track));
  }

  /**
   * Each gains its weight, and the one with the most pays what all have gained. Weights of 5, 1, 1 give the order aabacaa.
   * Where all weigh 0 each weighs 1. Source: nginx, "upstream: smooth weighted
   * round-robin balancing", 2012.
   */
  function nextAmong(isCandidate: (member: Member<R>) => boolean): Member<R> {
    const isWeightless = !members.some((member) => isCandidate(member) && member.placed.weight > 0);
    let chosen: Member<R> | undefined;
    let sum = 0;
    for (const member of members) {
      const weight = isWeightless ? 1 : member.placed.weight;
      if (weight === 0 || !isCandidate(member)) continue;
      member.credit += weight;
      sum += weight;
      if (chosen === undefined || member.credit > chosen.credit) chosen = member;
    }
    if (chosen === undefined) throw new Error('a picker needs a replica');
    chosen.credit -= sum;
    return chosen;
  }

  update(placed);

  return {
    pick(tried, key, wanted) {
      const [only] = members;
      canaryShare = undefined;
      const member = members.length === 1 ? (only as Member<R>) : choose(tried, key, wanted);
      if (member.trialAt !== undefined) member.trialAt = performance.now() + limits.trialEveryMs;
      last = member.placed;
      return last.replica;
    },
    get drawn() {
      return { track: last.track, version: last.version, canaryShare };
    },
    update,
    get ejected() {
      return members.filter(isEjected).length;
    },
    responded(replica) {
      const member = memberOf.get(replica);
      if (member === undefined) return;
      member.row = 0;
      if (member.trialAt === undefined) return;
      note(replica, () => {
        member.trialAt = undefined;
        return undefined;
      });
    },
    failed(replica) {
      note(replica, (member) => {
        member.row += 1;
        if (member.row < limits.failures || member.trialAt !== undefined) return undefined;
        member.trialAt = performance.now() + limits.trialEveryMs;
        return 'failures';
      });
    },
    refused(replica) {
      down(replica, 'refused');
    },
    lost(replica) {
      const member = memberOf.get(replica);
      if (members.length === 1 || member === undefined) return;
      member.isSuspect = true;
      // The failed call continues; the probe is not a part of its trace.
      context.with(ROOT_CONTEXT, () => void probe(member));
    },
    [Symbol.dispose]() {
      isOver = true;
      stop();
    },
  };
}
