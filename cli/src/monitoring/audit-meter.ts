import { setTimeout as delay } from 'node:timers/promises';
import { RECENT_INVARIANTS, RECENT_KINDS, type RecentLook, type RecentViolation } from '../audit/recent.ts';
import { messageOf } from '../errors.ts';
import { gaugeOf } from '../otlp/own-metrics.ts';
import type { Meter } from './meter.ts';

/** What a watcher gets. */
export type AuditEvent =
  | {
      readonly type: 'violation';
      /** ISO time of the look that found it. */
      readonly time: string;
      readonly invariant: string;
      readonly title: string;
      readonly kind: string;
      readonly orderId?: string;
      readonly subject?: string;
      readonly detail: string;
    }
  /** After each look. `unknown`: invariants that could not be checked, with the reason. */
  | {
      readonly type: 'look';
      readonly time: string;
      readonly orders: number;
      readonly standing: number;
      readonly unknown: Readonly<Record<string, string>>;
    };

export interface AuditMeterOptions {
  /** Checks the orders placed since; ms since 1970. */
  look(sinceMs: number): Promise<RecentLook>;
  /** Called for the first of a row of looks that were not possible. */
  onProblem(message: string): void;
}

export interface AuditMeter extends Meter {
  /** Looks also while there is no watcher, this often; undefined: only for watchers. */
  setAlways(everyMs: number | undefined): void;
  /** Looks at least this often until the returned function is called. Each watcher gets each violation once. */
  watch(everyMs: number, report: (event: AuditEvent) => void): () => void;
}

interface Watcher {
  readonly everyMs: number;
  readonly reported: Set<string>;
  readonly report: (event: AuditEvent) => void;
}

/** How far a look goes back: the first one, and where it finds few orders. In ms. */
const WINDOW_MS = { most: 600_000, least: 90_000 };
/** A look at more orders than this is followed by shorter ones. */
const ORDERS_OF_A_LOOK = 5_000;
/** While no look is wanted: the longest that a timer takes, in ms. */
const FOR_LONG_MS = 2 ** 31 - 1;
/** Violations that are remembered after their orders have left the window; the oldest are forgotten. */
const MAX_STANDING = 10_000;

/**
 * Checks the recent orders again and again while that is wanted. An order is in each look for as long as it is in the
 * window, and for up to 10 minutes while it is not finished. A violation stands until a look finds its order in order.
 */
export function startAuditMeter({ look, onProblem }: AuditMeterOptions): AuditMeter {
  const ended = new AbortController();
  const watchers = new Set<Watcher>();
  const standing = new Map<string, RecentViolation>();
  let latest: RecentLook | undefined;
  let always: number | undefined;
  let windowMs = WINDOW_MS.most;
  let isFailing = false;
  let rest = new AbortController();
  void keepLooking();

  function everyMs(): number | undefined {
    const wanted = [...[...watchers].map((watcher) => watcher.everyMs), ...(always === undefined ? [] : [always])];
    return wanted.length === 0 ? undefined : Math.min(...wanted);
  }

  function wantedChanged(): void {
    if (everyMs() === undefined) {
      latest = undefined;
      standing.clear();
      windowMs = WINDOW_MS.most;
    }
    wake();
  }

  function wake(): void {
    rest.abort();
    rest = new AbortController();
  }

  async function keepLooking(): Promise<void> {
    while (!ended.signal.aborted) {
      if (everyMs() !== undefined) await lookOnce();
      if (ended.signal.aborted) return;
      await delay(everyMs() ?? FOR_LONG_MS, undefined, { signal: rest.signal }).catch(() => undefined); // Woken.
    }
  }

  async function lookOnce(): Promise<void> {
    const unfinished = latest?.unfinishedSince ?? Number.POSITIVE_INFINITY;
    const now = Date.now();
    const sinceMs = Math.max(Math.min(now - windowMs, unfinished), now - WINDOW_MS.most);
    try {
      const found = await look(sinceMs);
      if (isFailing) onProblem('the recent orders are audited again');
      isFailing = false;
      if (everyMs() !== undefined && !ended.signal.aborted) take(found, sinceMs);
    } catch (error) {
      if (!isFailing && !ended.signal.aborted) onProblem(`the recent orders cannot be audited: ${messageOf(error)}`);
      isFailing = true;
      latest = undefined;
    }
  }

  function take(found: RecentLook, sinceMs: number): void {
    latest = found;
    const share = found.orders / ORDERS_OF_A_LOOK;
    windowMs = Math.min(Math.max(share > 1 ? windowMs / share : windowMs * 2, WINDOW_MS.least), WINDOW_MS.most);
    for (const [key, { invariant, placedAt }] of standing) {
      const isCheckedAgain = placedAt === undefined || placedAt >= sinceMs;
      if (isCheckedAgain && !found.unknown.has(invariant)) standing.delete(key);
    }
    for (const violation of found.violations) standing.set(keyOf(violation), violation);
    for (const key of standing.keys()) {
      if (standing.size <= MAX_STANDING) break;
      standing.delete(key);
    }
    for (const watcher of watchers) reportAll(watcher, found);
  }

  function reportAll({ reported, report }: Watcher, { at, orders, unknown }: RecentLook): void {
    const time = new Date(at).toISOString();
    for (const [key, violation] of standing) {
      if (reported.has(key)) continue;
      reported.add(key);
      report(eventOf(violation, time));
    }
    report({ type: 'look', time, orders, standing: standing.size, unknown: Object.fromEntries(unknown) });
  }

  return {
    metrics() {
      if (latest === undefined) return [];
      const known = RECENT_INVARIANTS.filter(({ id }) => !latest?.unknown.has(id));
      const counts = Map.groupBy(standing.values(), ({ invariant, kind }) => `${invariant} ${kind}`);
      return [
        gaugeOf(
          'shop.audit.violations',
          { unit: '{violation}', description: 'Violations of an invariant among recent orders that stand.' },
          known.flatMap(({ id }) =>
            RECENT_KINDS.map((kind) => {
              return { value: counts.get(`${id} ${kind}`)?.length ?? 0, attributes: { invariant: id, kind } };
            }),
          ),
        ),
      ];
    },
    setAlways(ms) {
      always = ms;
      wantedChanged();
    },
    watch(ms, report) {
      const watcher = { everyMs: ms, reported: new Set<string>(), report };
      watchers.add(watcher);
      wantedChanged();
      return () => {
        watchers.delete(watcher);
        wantedChanged();
      };
    },
    async end() {
      // A look in progress is not waited for: a database that is frozen would keep the platform from ending.
      ended.abort();
      wake();
      latest = undefined;
    },
  };
}

function keyOf({ invariant, orderId, subject, detail }: RecentViolation): string {
  return `${invariant} ${orderId ?? subject ?? detail}`;
}

function eventOf({ invariant, kind, orderId, subject, detail }: RecentViolation, time: string): AuditEvent {
  const title = RECENT_INVARIANTS.find(({ id }) => id === invariant)?.title ?? '';
  return {
    type: 'violation',
    time,
    invariant,
    title,
    kind,
    ...(orderId !== undefined && { orderId }),
    ...(subject !== undefined && { subject }),
    detail,
  };
}
