import type { RunVerdict } from '../shared/verdict.ts';
import { customersHit, failedShare } from './customers.ts';
import type { Expectation, Expected, ExpectedGroup } from './expected.ts';
import { isSlowToClear } from './firings.ts';
import { findGoals, type Goal, verdictOf } from './goals.ts';
import type { Firing, MatrixJournal, MatrixStart, PairRecord } from './journal.ts';
import { type MatrixMetrics, measure } from './metrics.ts';
import { type Pair, pairName } from './pair.ts';
import type { Cell, Clear, PairResult } from './result.ts';

export interface MatrixReport {
  readonly start: MatrixStart;
  readonly pairs: readonly PairResult[];
  /** Planned, and not measured yet. */
  readonly open: readonly Pair[];
  readonly metrics: MatrixMetrics;
  readonly goals: readonly Goal[];
  readonly verdict: Exclude<RunVerdict, 'interrupted'>;
  readonly tookMs: number;
}

/** Share of failed orders from which on a fault is an outage. */
const OUTAGE_SHARE = 0.9;
/** The begin of a fault, while its effect comes, s. */
const BEGIN_S = 3;

/** What a journal shows, by its record of customers and by what is expected. Pure. */
export function evaluate({ start, records, tookMs }: MatrixJournal, expected: Expected): MatrixReport {
  const byName = new Map(records.map((record) => [pairName(record.pair), record]));
  const measured = start.pairs.flatMap((pair) => byName.get(pairName(pair)) ?? []);
  const pairs = measured.map((record) => checkPair(record, start, expected));
  const metrics = measure(pairs, start.pairs.length);
  const goals = findGoals(metrics);
  const isDirty = pairs.some(({ verdict }) => verdict === 'dirty');
  return {
    start,
    pairs,
    open: start.pairs.filter((pair) => !byName.has(pairName(pair))),
    metrics,
    goals,
    verdict: isDirty ? 'dirty' : verdictOf(goals),
    tookMs,
  };
}

function checkPair(record: PairRecord, start: MatrixStart, expected: Expected): PairResult {
  const { pair, platform, notReverted } = record;
  const group = expected.groupOf(pair);
  const hit = customersHit(record, start.burns, start.guard);
  const unknown = [
    ...record.problems,
    ...(hit.isHit === undefined ? [hit.evidence] : []),
    ...(group === undefined ? ['no expectations'] : mistakesOf(group, start, hit)),
  ];
  const cells = start.alerts.map((alert) =>
    cellOf(alert, record, { group, isHit: hit.isHit, isUnknown: unknown.length > 0 }),
  );
  const wrong = cells.flatMap(describeWrong);
  const verdict =
    notReverted.length > 0 ? 'dirty' : unknown.length > 0 ? 'unknown' : wrong.length > 0 ? 'fail' : 'pass';
  const detectedS = unknown.length > 0 ? undefined : firstPage(cells);
  return {
    pair,
    name: pairName(pair),
    group: group?.name,
    verdict,
    reasons: [...notReverted, ...unknown, ...wrong],
    isHit: hit.isHit,
    evidence: hit.evidence,
    isOutage: isOutage(record),
    ...(detectedS !== undefined && { detectedS }),
    cells,
    clears: unknown.length > 0 ? [] : clearsOf(record),
    platform,
  };
}

/** A file that expects pages where no customer was hit, or none where one was decides nothing. */
function mistakesOf(
  group: ExpectedGroup,
  { alerts }: MatrixStart,
  { isHit, evidence }: { readonly isHit: boolean | undefined; readonly evidence: string },
): readonly string[] {
  const pages = alerts.filter(({ severity }) => severity === 'page');
  const of = (wanted: Expectation) =>
    pages.filter(({ alertname, severity }) => group.of(alertname, severity) === wanted);
  const [must] = of('must');
  if (isHit === false && must !== undefined)
    return [`"${group.name}" expects ${must.alertname}, and no customer was hit: ${evidence}`];
  if (isHit === true && of('must not').length === pages.length)
    return [`"${group.name}" expects no page, and customers were hit: ${evidence}`];
  return [];
}

function cellOf(
  { alertname, severity }: MatrixStart['alerts'][number],
  record: PairRecord,
  { group, isHit, isUnknown }: { group: ExpectedGroup | undefined; isHit: boolean | undefined; isUnknown: boolean },
): Cell {
  const expectation = group?.of(alertname, severity) ?? 'may';
  const firing = firstFiring(record, { alertname, severity });
  const { injectedMs = 0 } = record;
  const firedS = firing === undefined ? {} : { firedS: (firing.firedMs - injectedMs) / 1_000 };
  const cell = { alertname, severity, expectation, ...firedS };
  if (isUnknown) return { ...cell, verdict: 'unknown' };
  if (firing === undefined) return { ...cell, verdict: expectation === 'must' ? 'missed' : 'silent' };
  const belongs = expectation !== 'must not' && (severity !== 'page' || isHit === true);
  return { ...cell, verdict: belongs ? 'hit' : 'false' };
}

/** Of an alert with several burn rates the one that fired first. The ticket of a page does not count. */
function firstFiring(
  { firings, injectedMs = Number.POSITIVE_INFINITY }: PairRecord,
  { alertname, severity }: MatrixStart['alerts'][number],
): Firing | undefined {
  return firings
    .filter((firing) => firing.alertname === alertname && firing.severity === severity && firing.firedMs >= injectedMs)
    .toSorted((a, b) => a.firedMs - b.firedMs)[0];
}

function clearsOf(record: PairRecord): readonly Clear[] {
  return record.firings.flatMap((firing) => {
    const afterS = firing.severity === 'page' ? clearedAfterS(firing, record) : undefined;
    return afterS === undefined ? [] : [{ alertname: firing.alertname, afterS, isSlow: isSlowToClear(firing) }];
  });
}

/** Undefined for one that had ended before the fault did. */
function clearedAfterS({ resolvedMs }: Firing, { revertedMs }: PairRecord): number | undefined {
  if (revertedMs === undefined) return undefined;
  if (resolvedMs === undefined) return Number.POSITIVE_INFINITY;
  return resolvedMs < revertedMs ? undefined : (resolvedMs - revertedMs) / 1_000;
}

function firstPage(cells: readonly Cell[]): number | undefined {
  const times = cells.flatMap(({ severity, verdict, firedS }) =>
    severity === 'page' && verdict === 'hit' && firedS !== undefined ? [firedS] : [],
  );
  return times.length === 0 ? undefined : Math.min(...times);
}

function isOutage({ seconds, injectedMs, revertedMs }: PairRecord): boolean {
  if (injectedMs === undefined || revertedMs === undefined) return false;
  const [from, to] = [Math.ceil(injectedMs / 1_000) + BEGIN_S, Math.floor(revertedMs / 1_000)];
  return to > from && (failedShare(seconds, from, to) ?? 0) >= OUTAGE_SHARE;
}

function describeWrong({ alertname, verdict, firedS, expectation }: Cell): readonly string[] {
  if (verdict === 'missed') return [`${alertname} did not fire`];
  if (verdict !== 'false') return [];
  const why = expectation === 'must not' ? 'must not fire' : 'no customer was hit';
  return [`${alertname} fired after ${firedS?.toFixed(1)} s: ${why}`];
}
