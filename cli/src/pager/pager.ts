import { type Alert, isFiring, mergeAlerts, nameOf, type ReportedAlert, severityOf, toAlert } from './alert.ts';
import { byCodePoint } from './label-set.ts';
import type { DeliveryAction, PagerEvent, PagerFact } from './page-event.ts';
import type { PagerJournal } from './pager-journal.ts';
import { applyEvent, type Delivery, type KnownAlert, MOST_DELIVERIES, type PagerState } from './pager-state.ts';
import { createPipelineWatch, type PipelineStatus, WATCHDOG } from './pipeline-watch.ts';
import {
  type AskedSilence,
  BadSilenceError,
  createSilenceIndex,
  expireSilence,
  NoSuchSilenceError,
  type Silence,
  setSilence,
  silenceStateOf,
} from './silence.ts';

/** A page without acknowledgement is reported once more after so long. */
export const ESCALATE_AFTER_MS = 60_000;
/** After a start, or after the machine has slept, sources have so long to report what still fires. */
const GRACE_MS = 60_000;
/** Times between two looks, above which the process was stopped or the machine has slept. */
const SLEPT_MS = 5_000;
const MOST_ALERTS = 2_000;
const MOST_SILENCES = 500;
/** Silences that have ended are shown for so long. Source: Alertmanager, default of `--data.retention`. */
const KEEP_ENDED_MS = 120 * 3_600_000;

/** An alert that fires, with what silences or inhibits it. */
export interface AlertView extends KnownAlert {
  readonly silencedBy: readonly string[];
  readonly inhibitedBy: readonly string[];
}

/** Too many alerts fire: the pager takes no others. */
export class TooManyAlertsError extends Error {
  override readonly name = 'TooManyAlertsError';

  constructor() {
    super(`exceeded maximum number of alerts that fire (limit: ${MOST_ALERTS})`);
  }
}

export interface PagerOptions {
  readonly state: PagerState;
  readonly journal: PagerJournal;
  /** ms since 1970. */
  readonly now: () => number;
  /** What could not be written; what was decided is in effect. */
  readonly report: (problem: string) => void;
  /** Whether there is a webhook to deliver to. */
  readonly delivers: boolean;
  /** Whether Prometheus should evaluate alerts now; undefined where the platform has none. */
  readonly isPipelineExpected: () => boolean | undefined;
}

/**
 * Decides what of the alerts that are reported is brought to people, and remembers it. It evaluates no rules and opens no connection.
 * Invariants. P1: a page is notified once while it fires, and escalated once at most. P2: what is silenced or inhibited is neither.
 * P3: what a client was confirmed is on disk, or its failure was reported. P4: time in which this process did not run resolves and
 * escalates nothing.
 */
export interface Pager {
  /** Takes what a source reports. Throws TooManyAlertsError for those above the limit; the others are taken. */
  receive(reported: readonly ReportedAlert[]): Promise<void>;
  /** Looks what time has changed. */
  tick(): Promise<void>;
  /** Those that had been acknowledged stay as they are; resolves to those that were not. */
  acknowledge(fingerprints: readonly string[], by: string, note?: string): Promise<readonly AlertView[]>;
  /** Throws BadSilenceError. */
  setSilence(asked: AskedSilence): Promise<Silence>;
  /** Throws NoSuchSilenceError. Resolves to false for one that had ended. */
  expireSilence(id: string): Promise<boolean>;
  /** Those that fire, by fingerprint. */
  alerts(): readonly AlertView[];
  silences(): readonly Silence[];
  pipeline(): PipelineStatus;
  /** What waits for the webhook, the oldest first. */
  deliveries(): readonly Delivery[];
  delivered(delivery: Delivery, attempts: number): Promise<void>;
  undelivered(delivery: Delivery, attempts: number, why: string): Promise<void>;
  /** Calls back for each event from now on; the returned function ends it. */
  follow(listener: (event: PagerEvent) => void): () => void;
  /** Writes what is left. */
  close(): Promise<void>;
}

export function createPager(options: PagerOptions): Pager {
  const { journal, now, report } = options;
  const { state } = options;
  const startedAtMs = now();
  giveGrace(state.alerts, startedAtMs);
  let lastLookMs = startedAtMs;
  // Reported since this process began, or has run again: only these can be escalated.
  const waitingSinceMs = new Map<string, number>();
  const silenceIndex = createSilenceIndex(state.silences.values());
  const pipeline = createPipelineWatch({ isExpected: options.isPipelineExpected, startedAtMs });
  const listeners = new Set<(event: PagerEvent) => void>();
  let writing = Promise.resolve();

  /** In effect immediately; resolves when it is written, or when that has failed and was reported. */
  function commit(facts: readonly PagerFact[]): Promise<void> {
    if (facts.length === 0) return writing;
    const time = new Date(now()).toISOString();
    const events = facts.map((fact, index): PagerEvent => ({ sequence: state.sequence + 1 + index, time, ...fact }));
    for (const event of events) applyEvent(state, event);
    for (const event of events) for (const listener of listeners) listener(event);
    writing = writing
      .then(() => journal.append(events, () => state))
      .catch((error: Error) => report(`${events.map(({ type }) => type).join(', ')} not recorded: ${error.message}`));
    return writing;
  }

  /** A cause explains a page that fires: it is not brought to people beside it. One is named, as Alertmanager does. */
  function inhibitors(): readonly string[] {
    for (const { alert } of state.alerts.values()) if (severityOf(alert) === 'page') return [alert.fingerprint];
    return [];
  }

  function views(nowMs: number, isWanted: (alert: Alert) => boolean = () => true): readonly AlertView[] {
    const pages = inhibitors();
    const wanted = [...state.alerts.values()].filter(({ alert }) => isWanted(alert));
    return wanted.map((known) => ({
      ...known,
      silencedBy: silenceIndex.idsFor(known.alert.labels, nowMs),
      inhibitedBy: severityOf(known.alert) === 'cause' ? pages : [],
    }));
  }

  const delivery = (action: DeliveryAction) => (options.delivers ? { delivery: action } : {});
  const about = (alert: Alert) => ({
    fingerprint: alert.fingerprint,
    alertname: nameOf(alert),
    severity: severityOf(alert),
    labels: alert.labels,
  });
  const summaryOf = ({ annotations: { summary } }: Alert) => (summary === undefined ? {} : { summary });

  function take(reported: ReportedAlert, nowMs: number): PagerFact | undefined {
    const young = toAlert(reported, nowMs);
    const known = state.alerts.get(young.fingerprint);
    const alert = known === undefined ? young : mergeAlerts(known.alert, young, nowMs);
    if (known === undefined) {
      if (!isFiring(alert, nowMs)) return undefined;
      if (state.alerts.size >= MOST_ALERTS) throw new TooManyAlertsError();
      return { type: 'fired', ...about(alert), alert, ...summaryOf(alert) };
    }
    if (!isFiring(alert, nowMs)) return resolved(known, Math.max(0, alert.endsAtMs - alert.startsAtMs), false);
    // Its end and its annotations change with each evaluation, which is not worth an event.
    state.alerts.set(alert.fingerprint, { ...known, alert });
    return undefined;
  }

  function resolved({ alert, notifiedAtMs }: KnownAlert, firedMs: number, unreported: boolean): PagerFact {
    waitingSinceMs.delete(alert.fingerprint);
    const wasNotified = notifiedAtMs !== undefined;
    return {
      type: 'resolved',
      ...about(alert),
      firedMs,
      ...(unreported && { unreported }),
      ...(wasNotified && delivery('resolve')),
    };
  }

  function notices(nowMs: number): readonly PagerFact[] {
    return views(nowMs, (alert) => severityOf(alert) === 'page').flatMap((view): PagerFact[] => {
      const { alert, silencedBy, inhibitedBy, notifiedAtMs, escalatedAtMs, acknowledged } = view;
      const { fingerprint } = alert;
      const isSuppressed = silencedBy.length + inhibitedBy.length > 0;
      if (isSuppressed) {
        waitingSinceMs.delete(fingerprint);
        return [];
      }
      if (notifiedAtMs === undefined) {
        waitingSinceMs.set(fingerprint, nowMs);
        return [{ type: 'notified', ...about(alert), ...summaryOf(alert), ...delivery('trigger') }];
      }
      if (acknowledged !== undefined || escalatedAtMs !== undefined) return [];
      const sinceMs = waitingSinceMs.get(fingerprint);
      // It was notified by an earlier process, or before a silence: the time counts from when it is reported again.
      if (sinceMs === undefined) {
        if (alert.updatedAtMs >= startedAtMs) waitingSinceMs.set(fingerprint, nowMs);
        return [];
      }
      if (nowMs - sinceMs < ESCALATE_AFTER_MS) return [];
      return [{ type: 'escalated', ...about(alert), ...summaryOf(alert), ...delivery('trigger') }];
    });
  }

  function resume(nowMs: number): void {
    giveGrace(state.alerts, nowMs);
    for (const fingerprint of waitingSinceMs.keys()) waitingSinceMs.set(fingerprint, nowMs);
    pipeline.resume(nowMs);
  }

  function look(): Promise<void> {
    const nowMs = now();
    if (nowMs - lastLookMs > SLEPT_MS) resume(nowMs);
    lastLookMs = nowMs;
    const over = [...state.alerts.values()].filter(({ alert }) => !isFiring(alert, nowMs));
    void commit(over.map((known) => resolved(known, known.alert.endsAtMs - known.alert.startsAtMs, true)));
    const watchdog = [...state.alerts.values()].some(({ alert }) => nameOf(alert) === WATCHDOG);
    const change = pipeline.look(nowMs, watchdog, state.isPipelineLost);
    if (change !== undefined) void commit([{ type: 'pipeline', ...change }]);
    void commit(notices(nowMs));
    void commit(droppedDeliveries());
    forgetEndedSilences(nowMs);
    return writing;
  }

  function droppedDeliveries(): readonly PagerFact[] {
    const excess = state.deliveries.slice(0, Math.max(0, state.deliveries.length - MOST_DELIVERIES));
    const why = `more than ${MOST_DELIVERIES} waited`;
    return excess.map(({ of }) => ({ type: 'undelivered', of, attempts: 0, why }));
  }

  function forgetEndedSilences(nowMs: number): void {
    for (const { id, endsAtMs } of state.silences.values()) {
      if (nowMs - endsAtMs < KEEP_ENDED_MS) continue;
      state.silences.delete(id);
      silenceIndex.delete(id);
    }
  }

  function silenceFact(silence: Silence, did: 'created' | 'changed' | 'ended'): PagerFact {
    silenceIndex.set(silence);
    return { type: 'silence', silence, did };
  }

  return {
    async receive(reported) {
      const nowMs = now();
      if (nowMs - lastLookMs > SLEPT_MS) resume(nowMs);
      let problem: TooManyAlertsError | undefined;
      for (const one of reported) {
        try {
          const fact = take(one, nowMs);
          if (fact !== undefined) void commit([fact]);
        } catch (error) {
          if (!(error instanceof TooManyAlertsError)) throw error;
          problem = error;
        }
      }
      await look();
      if (problem !== undefined) throw problem;
    },
    tick: look,
    async acknowledge(fingerprints, by, note) {
      const open = views(now()).filter(
        ({ alert, acknowledged }) => fingerprints.includes(alert.fingerprint) && acknowledged === undefined,
      );
      await commit(
        open.map(({ alert, notifiedAtMs }) => ({
          type: 'acknowledged',
          ...about(alert),
          by,
          ...(note !== undefined && { note }),
          ...(notifiedAtMs !== undefined && delivery('acknowledge')),
        })),
      );
      return open;
    },
    async setSilence(asked) {
      const nowMs = now();
      const { silence, replaced } = setSilence(asked, state.silences, nowMs);
      const isChange = state.silences.has(silence.id);
      const count = [...state.silences.values()].filter((one) => silenceStateOf(one, nowMs) !== 'expired').length;
      if (!isChange && count >= MOST_SILENCES)
        throw new BadSilenceError(`exceeded maximum number of silences: ${count} (limit: ${MOST_SILENCES})`);
      const ended = replaced === undefined ? [] : [silenceFact(replaced, 'ended')];
      void commit([...ended, silenceFact(silence, isChange ? 'changed' : 'created')]);
      await look();
      return silence;
    },
    async expireSilence(id) {
      const silence = state.silences.get(id);
      if (silence === undefined) throw new NoSuchSilenceError();
      const ended = expireSilence(silence, now());
      if (ended === silence) return false;
      void commit([silenceFact(ended, 'ended')]);
      await look();
      return true;
    },
    alerts: () => views(now()).toSorted((a, b) => byCodePoint(a.alert.fingerprint, b.alert.fingerprint)),
    silences: () => [...state.silences.values()],
    pipeline: () => pipeline.status(state.isPipelineLost),
    deliveries: () => state.deliveries,
    delivered: ({ of }, attempts) => commit([{ type: 'delivered', of, attempts }]),
    undelivered: ({ of }, attempts, why) => commit([{ type: 'undelivered', of, attempts, why }]),
    follow(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      await writing;
      await journal.checkpoint(state);
    },
  };
}

/** They fire until their sources had time to report them again. */
function giveGrace(alerts: Map<string, KnownAlert>, nowMs: number): void {
  for (const [fingerprint, known] of alerts) {
    const endsAtMs = Math.max(known.alert.endsAtMs, nowMs + GRACE_MS);
    alerts.set(fingerprint, { ...known, alert: { ...known.alert, endsAtMs } });
  }
}
