import { AUDIT_HORIZON_DAYS } from '@shop/kit/keep-days.ts';
import { CliError, messageOf } from '../errors.ts';
import { type Verdict, worst } from '../shared/verdict.ts';
import { checkOrders, unknownResult } from './check-orders.ts';
import { type Ledger, openLedger } from './collect.ts';
import type { OrderFacts, PriceFact } from './facts.ts';
import { type History, readHistory } from './history.ts';
import { isOrderWithinHorizon } from './horizon.ts';
import { type Clock, type InvariantResult, type OrderInvariant, verdictOf } from './invariant.ts';
import { CLEAN_TITLE, cleanResult } from './invariants/clean.ts';
import { acknowledgedIsDurable, ordersWereAskedFor } from './invariants/history.ts';
import { inboxMatches } from './invariants/inbox.ts';
import { type ByStatus, METRICS_TITLE } from './invariants/metrics.ts';
import { moneyMatches } from './invariants/money.ts';
import { outboxMatches } from './invariants/outbox.ts';
import { pricesAreOfCatalog } from './invariants/prices.ts';
import { QUEUES_TITLE, queuesResult } from './invariants/queues.ts';
import { SESSIONS_TITLE } from './invariants/sessions.ts';
import { shipmentsMatch } from './invariants/shipments.ts';
import { checkInventory, stockMatches } from './invariants/stock.ts';
import { terminal } from './invariants/terminal.ts';
import { readOnTheirWay } from './read-events.ts';
import { checkMetrics } from './read-metrics.ts';
import { checkSessions } from './read-sessions.ts';
import type { Scope } from './rows.ts';
import { settle } from './settle.ts';
import type { AuditTarget } from './target.ts';

export interface AuditOptions {
  readonly target: AuditTarget;
  readonly scope?: Scope;
  /** How long what is in flight may take to end before it is checked, in ms. */
  readonly settleMs: number;
  /** The responses of clients, NDJSON (see `readHistory`); without it I2 and I3 are skipped. */
  readonly historyFile?: string | undefined;
  /** Poison that was injected on purpose. */
  readonly deadLetters?: number;
  /** Decisions that kills had kept from being counted before (see `readLostCounts`): I11 leaves them out. */
  readonly lostBefore?: ByStatus | undefined;
  readonly signal?: AbortSignal;
  /** Called with what is being done now. */
  readonly onProgress?: (text: string) => void;
}

/** The whole result; `--json` prints it as it is. */
export interface AuditReport {
  /** The worst of the invariants, `skipped` ones aside. */
  readonly verdict: Verdict;
  readonly scope: Scope;
  readonly orders: number;
  /** Those of them that were placed before the audit's horizon: other databases may have deleted what was theirs. */
  readonly beyondHorizon: number;
  readonly settled: boolean;
  /** What was still in flight when the settle time was over. */
  readonly waitingFor: string;
  readonly invariants: readonly InvariantResult[];
  readonly tookMs: number;
}

/**
 * Reconciles databases, queues and metrics. Reads only. Resolves with a report also when parts cannot be read, which
 * makes their invariants unknown. Throws CliError: a history that cannot be read (2), an order that does not exist (1).
 */
export async function audit(options: AuditOptions): Promise<AuditReport> {
  const began = performance.now();
  const { target, scope = {}, signal, onProgress = () => undefined } = options;
  const history = await historyOf(options, scope);
  onProgress('waiting until nothing is in flight');
  const settlement = await settle(target, options.settleMs, signal);
  onProgress('reading the databases');
  await using ledger = await openLedger(target);
  const counter: Counter = { orders: 0, beyondHorizon: 0 };
  const clock = { at: ledger.at, settledAt: settlement.settledAt };
  const perOrder = await checkLedger(ledger, { scope, history, clock, counter });
  if (scope.orderId !== undefined && counter.orders === 0) throw unknownOrder(scope.orderId, ledger);
  onProgress('comparing stock, queues, metrics and sessions');
  const global = scope.orderId === undefined ? await checkGlobally(options, ledger, clock) : [];
  const invariants = merge(perOrder, global);
  return {
    verdict: worst(invariants.map(({ verdict }) => verdict)),
    scope,
    ...counter,
    settled: settlement.settledAt !== undefined,
    waitingFor: settlement.waitingFor,
    invariants,
    tookMs: Math.round(performance.now() - began),
  };
}

async function historyOf({ historyFile }: AuditOptions, scope: Scope): Promise<History | undefined> {
  if (historyFile === undefined) return undefined;
  if (scope.orderId === undefined && scope.sinceMs === undefined) return readHistory(historyFile);
  throw new CliError({
    code: 'invalid_usage',
    what: '--history cannot be combined with --order or --since',
    why: 'an acknowledged order outside of what is audited would seem lost',
    next: 'leave them out: a history limits what it is compared with by its own times',
  });
}

const SKIPPED = { verdict: 'skipped', violations: [], inFlight: 0 } as const;

interface Counter {
  orders: number;
  beyondHorizon: number;
}

interface LedgerOptions {
  readonly scope: Scope;
  readonly history: History | undefined;
  readonly clock: Clock;
  readonly counter: Counter;
}

async function checkLedger(
  ledger: Ledger,
  { scope, history, clock, counter }: LedgerOptions,
): Promise<InvariantResult[]> {
  const { missing } = ledger;
  const invariantsWith = (prices: readonly PriceFact[]): OrderInvariant[] => [
    terminal,
    ...(history === undefined ? [] : [acknowledgedIsDurable(history), ordersWereAskedFor(history)]),
    moneyMatches,
    stockMatches,
    outboxMatches,
    shipmentsMatch,
    inboxMatches,
    pricesAreOfCatalog(prices),
  ];
  try {
    const invariants = invariantsWith(await ledger.prices());
    const results = await checkOrders(invariants, counted(ledger.facts(scope), counter, clock), { clock, missing });
    const comparing = new Set(invariants.filter(({ compares }) => compares !== undefined).map(({ id }) => id));
    return results.map((result) => onlyIfSeen(result, { scope, counter, isCompared: comparing.has(result.id) }));
  } catch (error) {
    // A database that fails in the middle leaves sums that mean nothing.
    return invariantsWith([]).map((invariant) => unknownResult(invariant, `reading broke off: ${messageOf(error)}`));
  }
}

/**
 * An audit of a time or of one order is about existing rows: where nothing was compared, nothing was proved to balance.
 */
function onlyIfSeen(
  result: InvariantResult,
  { scope, counter, isCompared }: { scope: Scope; counter: Counter; isCompared: boolean },
): InvariantResult {
  if (result.verdict !== 'pass') return result;
  if (scope.sinceMs !== undefined && counter.orders === 0) {
    return unknownResult(result, 'no order was placed in that time');
  }
  if (scope.orderId === undefined || counter.beyondHorizon === 0 || !isCompared) return result;
  return unknownResult(
    result,
    `the order was placed more than ${AUDIT_HORIZON_DAYS} days ago: its rows may be deleted`,
  );
}

async function* counted(facts: AsyncIterable<OrderFacts>, counter: Counter, { at }: Clock): AsyncGenerator<OrderFacts> {
  for await (const one of facts) {
    counter.orders++;
    if (one.order !== undefined && !isOrderWithinHorizon(one.order, at)) counter.beyondHorizon++;
    yield one;
  }
}

async function checkGlobally(
  { target, deadLetters = 0, lostBefore, signal }: AuditOptions,
  ledger: Ledger,
  clock: Clock,
): Promise<InvariantResult[]> {
  return Promise.all([
    orUnknown({ id: 'I5', title: stockMatches.title }, () => checkProducts(ledger)),
    orUnknown({ id: 'I9', title: QUEUES_TITLE }, async () => {
      const queues = await target.queues();
      return queuesResult(queues, { deadLetters, onTheirWay: await readOnTheirWay(target, clock) });
    }),
    orUnknown({ id: 'I11', title: METRICS_TITLE }, () => checkMetrics(target, { lostBefore, signal })),
    orUnknown({ id: 'I13', title: SESSIONS_TITLE }, () => checkSessions(target, signal)),
    orUnknown({ id: 'I14', title: CLEAN_TITLE }, () => checkClean(target)),
  ]);
}

async function checkClean({ clean }: AuditTarget): Promise<InvariantResult> {
  if (clean !== undefined) return cleanResult(await clean());
  return { ...SKIPPED, id: 'I14', title: CLEAN_TITLE, evidence: 'no supervisor looks after what is audited' };
}

async function orUnknown(
  invariant: { id: string; title: string },
  check: () => Promise<InvariantResult>,
): Promise<InvariantResult> {
  try {
    return await check();
  } catch (error) {
    return unknownResult(invariant, messageOf(error));
  }
}

async function checkProducts(ledger: Ledger): Promise<InvariantResult> {
  const reason = ledger.missing.get('stock');
  if (reason !== undefined) throw new Error(reason);
  const inventory = await ledger.inventory();
  const violations = checkInventory(inventory);
  const evidence = `${inventory.length} products add up`;
  return { id: 'I5', title: stockMatches.title, verdict: verdictOf(violations, []), evidence, violations, inFlight: 0 };
}

/** All invariants in the order of their numbers; the two halves of I5 become one. */
function merge(perOrder: readonly InvariantResult[], global: readonly InvariantResult[]): InvariantResult[] {
  const joined = perOrder.map((result) => {
    const other = global.find(({ id }) => id === result.id);
    return other === undefined ? result : join(result, other);
  });
  const rest = global.filter(({ id }) => !perOrder.some((result) => result.id === id));
  const noHistory = { evidence: 'needs --history, the responses of clients' };
  const asked = joined.some(({ id }) => id === 'I2');
  const skipped: InvariantResult[] = asked
    ? []
    : [
        { ...SKIPPED, ...noHistory, id: 'I2', title: 'every response to a client is still true' },
        { ...SKIPPED, ...noHistory, id: 'I3', title: 'no unexpected order' },
      ];
  return [...joined, ...rest, ...skipped].sort((a, b) => numberOf(a) - numberOf(b));
}

function join(one: InvariantResult, other: InvariantResult): InvariantResult {
  const violations = [...one.violations, ...other.violations];
  const missing = [one, other].filter(({ verdict }) => verdict === 'unknown').map(({ evidence }) => evidence);
  const addsToIt = other.violations.length === 0 && other.evidence !== one.evidence;
  const evidence = addsToIt ? `${one.evidence}, ${other.evidence}` : one.evidence;
  const incomplete = violations.length > 0 && missing.length > 0;
  return { ...one, verdict: verdictOf(violations, missing), evidence, violations, ...(incomplete && { incomplete }) };
}

function numberOf({ id }: InvariantResult): number {
  return Number(id.slice(1));
}

function unknownOrder(orderId: string, ledger: Ledger): CliError {
  const reason = ledger.missing.get('orders');
  return new CliError({
    code: reason === undefined ? 'order_not_found' : 'evidence_missing',
    what: `order ${orderId} cannot be audited`,
    why: reason ?? 'no service knows an order with this id',
    next: reason === undefined ? 'list orders with "shopctl order list"' : 'see "shopctl status"',
  });
}
