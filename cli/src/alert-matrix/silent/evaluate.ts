import { type Verdict, worst } from '../../shared/verdict.ts';
import { customersHit } from '../customers.ts';
import type { SilentJournal, SilentStart, SituationRecord } from './journal.ts';

export interface SituationResult {
  readonly name: string;
  readonly verdict: Verdict;
  /** Why it is unknown or failed. */
  readonly reasons: readonly string[];
  readonly pages: readonly string[];
  /** Tickets and causes. */
  readonly others: readonly string[];
  readonly orders: number;
  readonly tookMs: number;
  /** By the load's own record; it does not excuse a page. */
  readonly isHit: boolean | undefined;
  readonly evidence: string;
}

export interface SilentReport {
  readonly start: SilentStart;
  readonly situations: readonly SituationResult[];
  /** Planned, and not measured yet. */
  readonly open: readonly string[];
  readonly pages: number;
  /** All situations, ms. */
  readonly measuredMs: number;
  readonly verdict: Verdict;
  readonly tookMs: number;
}

/** No page in any situation: a pass. Pure. */
export function evaluateSilent({ start, records, tookMs }: SilentJournal): SilentReport {
  const byName = new Map(records.map((record) => [record.situation.name, record]));
  const measured = start.situations.flatMap(({ name }) => byName.get(name) ?? []);
  const situations = measured.map((record) => check(record, start));
  const open = start.situations.map(({ name }) => name).filter((name) => !byName.has(name));
  const verdicts = situations.map(({ verdict }) => verdict);
  return {
    start,
    situations,
    open,
    pages: situations.reduce((sum, { pages }) => sum + pages.length, 0),
    measuredMs: situations.reduce((sum, one) => sum + one.tookMs, 0),
    verdict: worst(open.length > 0 ? [...verdicts, 'unknown'] : verdicts),
    tookMs,
  };
}

function check(record: SituationRecord, { burns, guard }: SilentStart): SituationResult {
  const { situation, firings, problems, orders, endedMs } = record;
  const { isHit, evidence } = customersHit(record, burns, guard);
  const pages = firings.filter(({ severity }) => severity === 'page').map(describe);
  const others = firings.filter(({ severity }) => severity !== 'page').map(describe);
  // A machine that is too busy hits customers itself: then a page says nothing.
  const verdict = problems.length > 0 ? 'unknown' : pages.length > 0 ? 'fail' : 'pass';
  const wrong = pages.length > 0 ? [`paged: ${pages.join(', ')}`, ...(isHit === true ? [evidence] : [])] : [];
  return {
    name: situation.name,
    verdict,
    reasons: [...problems, ...wrong],
    pages,
    others,
    orders,
    tookMs: endedMs,
    isHit,
    evidence,
  };
}

function describe({ alertname, burn, firedMs }: SituationRecord['firings'][number]): string {
  return `${alertname}${burn === undefined ? '' : ` ${burn}`} after ${Math.round(firedMs / 1_000)} s`;
}
