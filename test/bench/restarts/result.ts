/** What a run has found, and whether it holds. */
import type { SampledTrace } from '../../../cli/src/load/trace-sample.ts';
import type { RuntimeKind } from '../../../cli/src/platform/service-runtime.ts';
import type { Machine } from '../report.ts';
import { type Summary, summarize } from '../rounds.ts';
import type { Balance } from './ledger.ts';
import { isReset } from './outcomes.ts';
import type { Phase } from './phase.ts';
import { type Failures, type Tally, tallyOf } from './tally.ts';

export interface Chosen {
  readonly services: readonly string[];
  readonly restarts: number;
  readonly replicas: number;
  /** Orders a second. */
  readonly rate: number;
  readonly everyMs: number;
  readonly connections: string;
  readonly runtime: RuntimeKind;
  /** Traces of each service. */
  readonly traces: number;
  /** Fewer requests are a miss. */
  readonly leastRequests: number;
}

export interface ServiceResult extends Tally {
  readonly service: string;
  readonly restarts: number;
  readonly restartsFailed: number;
  /** Restarts that ended after the load, and were repeated. */
  readonly restartsRepeated: number;
  /** Processes or containers that took the place of others. */
  readonly replaced: number;
  readonly restartSeconds: Summary;
  readonly load: Phase['pace'];
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
  readonly traces: readonly SampledTrace[];
}

export interface Result {
  readonly machine: Machine;
  readonly chosen: Chosen;
  readonly services: readonly ServiceResult[];
  readonly audit: { readonly verdict: string; readonly orders: number; readonly violated: readonly string[] };
  /** All that does not hold, in words; none: exit code 0. */
  readonly misses: readonly string[];
  /** What was seen and is known to be so. */
  readonly stated: readonly string[];
}

export function resultOf(
  service: string,
  { restarts, afterLoad, counted, pace }: Phase,
  { lost, doubled }: Balance,
  traces: readonly SampledTrace[],
): ServiceResult {
  return {
    service,
    ...tallyOf(counted),
    restarts: restarts.length,
    restartsFailed: restarts.filter(({ error }) => error !== undefined).length,
    restartsRepeated: afterLoad,
    replaced: restarts.reduce((sum, { replaced }) => sum + replaced, 0),
    restartSeconds: summarize(restarts.map(({ tookMs }) => tookMs / 1_000)),
    load: pace,
    lost,
    doubled,
    traces,
  };
}

/** Of all arrivals, as many may be late or not sent until the rate counts as not held. */
const TOLERATED_SHARE = 0.01;

/** What does not hold, and what is stated beside it. */
export function judge({
  services,
  audit,
  chosen,
}: Pick<Result, 'services' | 'audit' | 'chosen'>): Pick<Result, 'misses' | 'stated'> {
  const stated: string[] = [];
  const misses: string[] = [];
  for (const one of services) {
    for (const failures of one.failures)
      (isKnown(one.service, failures, chosen) ? stated : misses).push(`${one.service}: ${describe(failures)}`);
    misses.push(...missesOf(one, chosen));
    const unsent = one.load.dropped + one.load.k6Dropped;
    if (unsent > 0 || one.load.late > 0)
      stated.push(`${one.service}: ${one.load.late} orders were sent late, ${unsent} were not sent`);
  }
  const requests = services.reduce((sum, one) => sum + one.requests, 0);
  if (requests < chosen.leastRequests)
    misses.push(`${requests} requests, at least ${chosen.leastRequests} were wanted`);
  if (audit.verdict !== 'pass') misses.push(`audit: ${[audit.verdict, ...audit.violated].join('; ')}`);
  return { misses, stated };
}

function missesOf(one: ServiceResult, chosen: Chosen): readonly string[] {
  const { service, load, lost, doubled, traces } = one;
  const misses: string[] = [];
  if (one.restartsFailed > 0) misses.push(`${service}: ${one.restartsFailed} restarts failed`);
  const wanted = one.restarts * chosen.replicas;
  if (one.replaced !== wanted) misses.push(`${service}: ${one.replaced} replicas were replaced, expected ${wanted}`);
  if (lost.length > 0) misses.push(`${service}: ${lost.length} orders lost: ${some(lost)}`);
  if (doubled.length > 0) misses.push(`${service}: ${doubled.length} orders doubled: ${some(doubled)}`);
  for (const { verdict, orderId, explanation } of traces)
    if (verdict !== 'pass') misses.push(`${service}: the trace of order ${orderId}: ${verdict}: ${explanation}`);
  if (traces.length < chosen.traces) misses.push(`${service}: ${traces.length} traces, ${chosen.traces} were wanted`);
  const unsent = load.dropped + load.k6Dropped + load.late;
  if (unsent > load.due * 2 * TOLERATED_SHARE)
    misses.push(`${service}: the rate was not held: ${unsent} of about ${load.due * 2} orders were late or not sent`);
  return misses;
}

/**
 * In containers each gateway binds the port for itself: the kernel resets connections that a closing listener has not
 * accepted yet (docs/docker.md). They are stated, and are no miss.
 */
function isKnown(service: string, { connection, failure }: Failures, { runtime }: Chosen): boolean {
  return runtime === 'docker' && service === 'gateway' && connection === 'new' && isReset(failure);
}

function describe({ client, connection, what, failure, count }: Failures): string {
  return `${count} x ${failure} (${what}, ${connection} connection, ${client === 'k6' ? 'k6' : 'our own client'})`;
}

const SHOWN = 5;
const some = (ids: readonly string[]) => [...ids.slice(0, SHOWN), ...(ids.length > SHOWN ? ['...'] : [])].join(', ');
