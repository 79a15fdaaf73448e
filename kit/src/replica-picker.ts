import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import { messageOf } from './failures.ts';

/** One of several processes that serve the same calls. */
export interface Replica {
  /** For logs, e.g. `127.0.0.1:4001`. */
  readonly address: string;
  /** It has announced that it closes: other replicas are preferred. */
  readonly isDraining?: boolean;
  /** Rejects while it does not respond, and when `signal` aborts. */
  check(signal: AbortSignal): Promise<void>;
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
   * The next in turn of the good replicas: not ejected, not draining, no connection lost since their last probe. Prefers
   * one that was not tried; where none is good, any.
   */
  pick(tried: ReadonlySet<R>): R;
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

interface Member<R> {
  readonly replica: R;
  /** Failed calls since the last response. */
  row: number;
  /** Ejected for its failures: when a call may try it next, on the monotonic clock. */
  trialAt: number | undefined;
  /** Ejected because it is unreachable: until a probe succeeds. */
  isDown: boolean;
  /** A connection broke: it may have ended, which a proxy before it hides. */
  isSuspect: boolean;
  isProbed: boolean;
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
  replicas: readonly R[],
  limits: PickerLimits,
  events: PickerEvents<R>,
): ReplicaPicker<R> {
  if (replicas.length === 0) throw new RangeError('a picker needs a replica');
  const members = replicas.map(
    (replica): Member<R> => ({ replica, row: 0, trialAt: undefined, isDown: false, isSuspect: false, isProbed: false }),
  );
  const memberOf = new Map(members.map((member) => [member.replica, member]));
  let turn = 0;
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;

  const isEjected = ({ isDown, trialAt }: Member<R>) => isDown || trialAt !== undefined;

  /** Runs `change` and reports an ejection or return of the member. */
  function update(member: Member<R>, change: () => EjectionCause | undefined, detail?: string): void {
    const wasEjected = isEjected(member);
    const cause = change();
    if (!wasEjected && cause !== undefined) events.ejected(member.replica, cause, detail);
    if (wasEjected && !isEjected(member)) events.returned(member.replica);
    watch();
  }

  function down(member: Member<R>, cause: EjectionCause, detail?: string): void {
    update(
      member,
      () => {
        member.isDown = true;
        return cause;
      },
      detail,
    );
  }

  async function probe(member: Member<R>): Promise<void> {
    if (member.isProbed) return;
    member.isProbed = true;
    const time = new AbortController();
    const late = setTimeout(() => time.abort(new Error(`no response in ${PROBE_TIMEOUT_MS} ms`)), PROBE_TIMEOUT_MS);
    try {
      await member.replica.check(time.signal);
      member.isSuspect = false;
      if (!member.isDown) return;
      update(member, () => {
        member.isDown = false;
        member.row = 0;
        member.trialAt = undefined;
        return undefined;
      });
    } catch (error) {
      down(member, 'probe', messageOf(error));
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

  function candidates(tried: ReadonlySet<R>): readonly Member<R>[] {
    const now = performance.now();
    const isDue = ({ isDown, trialAt }: Member<R>) => !isDown && trialAt !== undefined && trialAt <= now;
    const isGood = (member: Member<R>) => !isEjected(member) && !member.isSuspect && member.replica.isDraining !== true;
    const fresh = members.filter(({ replica }) => !tried.has(replica));
    const choices = [fresh.filter(isDue), fresh.filter(isGood), members.filter(isGood), fresh];
    return choices.find(({ length }) => length > 0) ?? members;
  }

  watch();

  return {
    pick(tried) {
      const among = members.length === 1 ? members : candidates(tried);
      const member = among[turn++ % among.length] as Member<R>;
      if (member.trialAt !== undefined) member.trialAt = performance.now() + limits.trialEveryMs;
      return member.replica;
    },
    get ejected() {
      return members.filter(isEjected).length;
    },
    responded(replica) {
      const member = memberOf.get(replica) as Member<R>;
      member.row = 0;
      if (member.trialAt === undefined) return;
      update(member, () => {
        member.trialAt = undefined;
        return undefined;
      });
    },
    failed(replica) {
      const member = memberOf.get(replica) as Member<R>;
      member.row += 1;
      if (member.row < limits.failures || member.trialAt !== undefined) return;
      update(member, () => {
        member.trialAt = performance.now() + limits.trialEveryMs;
        return 'failures';
      });
    },
    refused(replica) {
      down(memberOf.get(replica) as Member<R>, 'refused');
    },
    lost(replica) {
      if (members.length === 1) return;
      const member = memberOf.get(replica) as Member<R>;
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
