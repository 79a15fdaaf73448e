import { failpoints, failpointsOf } from '@shop/kit/failpoint-names.ts';
import { problems as problemCodes } from '@shop/kit/problems.ts';
import { DEAD_LETTERS_QUEUE, ORDER_CONFIRMED_QUEUE } from '@shop/kit/topology.ts';
import { findFault } from '../../chaos/catalog.ts';
import type { AnyFault } from '../../chaos/fault.ts';
import { CliError } from '../../errors.ts';
import { didYouMean, type Path, type Problem } from '../../yaml/problem.ts';
import { checkPattern, checkTolerances } from './check-tolerance.ts';
import type {
  EventCondition,
  FaultProvider,
  OrdersProbe,
  OrdersTolerance,
  PlatformNeeds,
  Step,
  TraceTolerance,
} from './schema.ts';
import type { PlacedStep } from './step-list.ts';
import { type Targets, targetsIn } from './targets.ts';

/** What steps are checked against. */
export interface CheckContext {
  readonly platform: PlatformNeeds;
  /** Trace contracts by name, with the names of their spans. */
  readonly contracts: () => ReadonlyMap<string, readonly string[]>;
  /** Names of the alerts that have rules. */
  readonly alerts: () => readonly string[];
}

/** Names in a step that do not exist, and checks that could never fail or never hold. */
export function checkStep({ step, path, section }: PlacedStep, context: CheckContext): Problem[] {
  if (step.type === 'hold') return [];
  const targets = targetsIn(context.platform);
  return [
    ...checkProvider(step, [...path, 'provider'], { ...context, targets }),
    ...('tolerance' in step ? checkTolerance(step, [...path, 'tolerance'], context) : []),
    ...checkWithin(step, [...path, 'within']),
    ...(section !== 'method' && 'background' in step && step.background
      ? [{ path: [...path, 'background'], message: 'only steps of the method can run in the background' }]
      : []),
  ];
}

/** New orders until their times are within bounds would pass by luck: they are measured once. */
function checkWithin(step: Step, path: Path): Problem[] {
  if (step.type !== 'probe' || step.provider.type !== 'orders' || step.within === undefined) return [];
  const { p50, p95, max, ratio, added, each } = (step as OrdersProbe).tolerance;
  const isTimed = [p50, p95, max, ratio, added].some((bound) => bound !== undefined);
  // The same orders again: the step waits until their responses show their final state.
  const isEachTimed = each?.duration !== undefined && step.provider['repeat-of'] === undefined;
  if (!isTimed && !isEachTimed) return [];
  const message = 'times of new orders are measured once: tried until they hold, they would pass by luck';
  return [{ path, message, isKey: true }];
}

/** Names in a condition that do not exist. */
export function checkEvent(
  condition: EventCondition,
  path: Path,
  { platform, alerts }: Pick<CheckContext, 'platform' | 'alerts'>,
): Problem[] {
  switch (condition.event) {
    case 'failpoint':
      return checkFailpointEvent(condition.at, [...path, 'at'], platform);
    case 'alert.fired':
      return condition.name === undefined ? [] : oneOf(condition.name, alerts(), [...path, 'name']);
    default:
      return [];
  }
}

/** A failpoint as the event says it: `orders.stock-reserved:unsaved`. */
function checkFailpointEvent(at: string, path: Path, { failpoints }: PlatformNeeds): Problem[] {
  const [service = '', name = ''] = at.split('.');
  return [...checkFailpoint(service, name, path), ...(failpoints ? [] : [needsFailpoints(path)])];
}

type Provided = Exclude<Step, { type: 'hold' }>;

function checkProvider({ provider }: Provided, path: Path, around: CheckContext & { targets: Targets }): Problem[] {
  const { targets } = around;
  const at = (key: string) => [...path, key];
  switch (provider.type) {
    case 'fault':
      return checkFault(provider, path, around);
    case 'service':
      return oneOf(provider.target, targets.processes, at('target'));
    case 'process':
      return oneOf(provider.target, targets.processes, at('target'));
    case 'ready':
      return oneOf(provider.target, ['all', ...targets.processes], at('target'));
    case 'http':
      return oneOf(provider.service, targets.services, at('service'));
    case 'log':
      return [
        ...oneOf(provider.service, targets.services, at('service')),
        ...checkPattern(provider.matches, at('matches')),
        ...((provider.contains ?? provider.matches ?? provider.level)
          ? []
          : [{ path, message: 'state contains, matches or level: otherwise any line matches' }]),
      ];
    case 'queue':
      return oneOf(provider.name, [ORDER_CONFIRMED_QUEUE, DEAD_LETTERS_QUEUE], at('name'));
    case 'sql':
      return checkQuery(provider.query, provider.values?.length ?? 0, at('query'));
    case 'load':
      return (provider.for === undefined) === (provider.until === undefined)
        ? [{ path, message: 'state how long the load runs: either for: 30s or until: stop' }]
        : [];
    case 'alert':
      return oneOf(provider.name, around.alerts(), at('name'));
    case 'event':
      return checkEvent(provider, path, around);
    default:
      return [];
  }
}

function checkFault(
  { fault: name, target, parameters }: FaultProvider,
  path: Path,
  { targets, platform }: { readonly targets: Targets; readonly platform: PlatformNeeds },
): Problem[] {
  const fault = findFault(name);
  const problems = oneOf(target, targets.ofFaults(fault.scope), [...path, 'target']);
  if (problems.length > 0) return problems;
  return [
    ...checkTogether(fault, { target, parameters }, path),
    ...(fault.kind === 'failpoint' && !platform.failpoints ? [needsFailpoints(path)] : []),
  ];
}

function checkTogether(
  fault: AnyFault,
  injection: Pick<FaultProvider, 'target' | 'parameters'>,
  path: Path,
): Problem[] {
  try {
    fault.check?.(injection);
    return [];
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return [{ path, message: [error.what, error.next].filter((text) => text !== undefined).join('; ') }];
  }
}

function checkFailpoint(service: string, name: string, path: Path): Problem[] {
  const known = failpointsOf(service);
  if (known.size === 0) return oneOf(service, Object.keys(failpoints), path);
  return known.has(name)
    ? []
    : [{ path, message: `${service} has no failpoint "${name}": one of ${[...known.keys()].join(', ')}` }];
}

function needsFailpoints(path: Path): Problem {
  return { path, message: 'services have failpoints only with platform: {failpoints: true}' };
}

function oneOf(name: string, known: readonly string[], path: Path): Problem[] {
  if (known.includes(name)) return [];
  return [{ path, message: `unknown name "${name}"${didYouMean(name, known)}: one of ${known.join(', ')}` }];
}

/**
 * Columns of pg_stat_activity that a role without pg_read_all_stats sees only of its sessions: a count by them would be
 * 0 whatever services do. Source: PostgreSQL 17, 27.2 "The Cumulative Statistics System".
 */
const HIDDEN_COLUMNS =
  /\b(state|state_change|xact_start|query_start|backend_start|wait_event(_type)?|query|backend_xid|backend_xmin)\b/i;

function checkQuery(query: string, given: number, path: Path): Problem[] {
  if (!/^\s*(select|with)\b/i.test(query))
    return [{ path, message: 'a query only reads: it begins with SELECT or WITH' }];
  const hidden = /\bpg_stat_activity\b/i.test(query) ? HIDDEN_COLUMNS.exec(query)?.[0] : undefined;
  if (hidden !== undefined) {
    const instead = "an open transaction is a row of pg_locks with locktype = 'virtualxid'";
    return [{ path, message: `${hidden} of other roles' sessions is NULL for the operator; ${instead}` }];
  }
  const needed = Math.max(0, ...[...query.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
  return needed === given ? [] : [{ path, message: `the query has ${needed} values, "values" has ${given}` }];
}

function checkTolerance(step: Provided & { tolerance: unknown }, path: Path, context: CheckContext): Problem[] {
  const problems = checkTolerances(step.tolerance, path);
  switch (step.provider.type) {
    case 'orders':
    case 'history':
      return [...problems, ...checkOrders(step.tolerance as OrdersTolerance, path)];
    case 'trace':
      return [...problems, ...checkTrace(step.tolerance as TraceTolerance, path, context)];
    case 'ready':
      return [...problems, ...checkReady(step.tolerance, path)];
    default:
      return problems;
  }
}

function checkReady(tolerance: unknown, path: Path): Problem[] {
  const { ready, because } = Object(tolerance) as { ready?: boolean; because?: string };
  return ready && because !== undefined
    ? [{ path, message: 'a ready target has no dependency that is down; leave "because" out' }]
    : [];
}

function checkOrders({ each, counts = {} }: OrdersTolerance, path: Path): Problem[] {
  const codes = Object.keys(problemCodes);
  const code = typeof each?.code === 'string' ? oneOf(each.code, codes, [...path, 'each', 'code']) : [];
  const keys = Object.keys(counts).flatMap((key): Problem[] => {
    const [, status, name] = /^(\d{3}) (.+)$/.exec(key) ?? [];
    if (status === undefined || name === undefined) return [];
    const known = problemCodes[name as keyof typeof problemCodes] as { status: number } | undefined;
    if (known?.status === Number(status)) return [];
    const message = known
      ? `the status of ${name} is ${known.status}`
      : `unknown problem "${name}"${didYouMean(name, codes)}`;
    return [{ path: [...path, 'counts', key], message, isKey: true }];
  });
  return [...code, ...keys];
}

function checkTrace({ contract, without }: TraceTolerance, path: Path, { contracts }: CheckContext): Problem[] {
  if (contract === undefined) {
    return without
      ? [{ path: [...path, 'without'], message: 'leaves spans of a contract out; state the contract too' }]
      : [];
  }
  const spans = contracts().get(contract);
  if (spans === undefined) return oneOf(contract, [...contracts().keys()], [...path, 'contract']);
  return (without ?? []).flatMap((name, index) => oneOf(name, spans, [...path, 'without', index]));
}
