/** What a run has found, and whether it holds. */
import type { SampledTrace } from '../../../cli/src/load/trace-sample.ts';
import type { RuntimeKind } from '../../../cli/src/platform/service-runtime.ts';
import type { Machine } from '../report.ts';
import { type Summary, summarize } from '../rounds.ts';
import type { Batch } from './batch.ts';
import type { DeployStrategy } from './deploys.ts';
import type { Balance } from './ledger.ts';
import { isReset } from './outcomes.ts';
import type { Phase } from './phase.ts';
import { describeSwitches, type Switch, switchMissesOf } from './switches.ts';
import { type Failures, type Tally, tallyOf } from './tally.ts';

export interface Chosen {
  readonly services: readonly string[];
  readonly restarts: number;
  readonly replicas: number;
  /** Scaled to so many replicas and back, in place of restarts. */
  readonly scale?: number;
  /** Deployed in place of restarts. */
  readonly deploy?: DeployStrategy;
  /** Orders a second. */
  readonly rate: number;
  readonly everyMs: number;
  readonly connections: string;
  readonly runtime: RuntimeKind;
  /** Of the load without restarts. */
  readonly calmMs: number;
  /** Traces of each service. */
  readonly traces: number;
  /** Fewer requests are a miss. */
  readonly leastRequests: number;
}

/** What both clients could not send in time. */
type Load = Phase['pace'];

/** The same load without restarts, before them. */
export interface Calm extends Tally, Balance {
  readonly load: Load;
}

export interface ServiceResult extends Calm {
  readonly service: string;
  readonly restarts: number;
  readonly restartsFailed: number;
  /** Restarts that ended after the load, and were repeated. */
  readonly restartsRepeated: number;
  /** Processes or containers that took the place of others, or were added. */
  readonly replaced: number;
  readonly restartSeconds: Summary;
  readonly traces: readonly SampledTrace[];
  readonly switches: readonly Switch[];
}

export interface Result {
  readonly machine: Machine;
  readonly chosen: Chosen;
  readonly calm: Calm;
  readonly services: readonly ServiceResult[];
  readonly audit: { readonly verdict: string; readonly orders: number; readonly violated: readonly string[] };
  /** All that does not hold, in words; none: exit code 0. */
  readonly misses: readonly string[];
  /** What was seen and is known to be so. */
  readonly stated: readonly string[];
}

export function calmOf({ counted, pace, k6Dropped }: Batch, balance: Balance): Calm {
  return { ...tallyOf(counted), ...balance, load: { ...pace, k6Dropped } };
}

export function resultOf(
  service: string,
  { restarts, afterLoad, counted, pace, switches }: Phase,
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
    switches,
  };
}

/** Of all arrivals, as many may be late or not sent until the rate counts as not held. */
const TOLERATED_SHARE = 0.01;

/** What does not hold, and what is stated beside it. */
export function evaluate({
  calm,
  services,
  audit,
  chosen,
}: Pick<Result, 'calm' | 'services' | 'audit' | 'chosen'>): Pick<Result, 'misses' | 'stated'> {
  const parts = [{ service: 'without restarts', ...calm }, ...services];
  const failures = parts.flatMap(({ service, failures: all }) => all.map((one) => ({ service, ...one })));
  const [known, unknown] = [true, false].map((isOne) => failures.filter((one) => isKnown(one, chosen) === isOne));
  const requests = services.reduce((sum, one) => sum + one.requests, 0);
  return {
    stated: [
      ...services.flatMap(({ service, switches }) => describeSwitches(service, switches)),
      ...parts.flatMap(paceOf),
      ...(known ?? []).map(describe),
    ],
    misses: [
      ...(unknown ?? []).map(describe),
      ...parts.flatMap(rateMissOf),
      ...parts.flatMap(ledgerMissesOf),
      ...services.flatMap((one) => missesOf(one, chosen)),
      ...(requests < chosen.leastRequests
        ? [`${requests} requests during restarts, at least ${chosen.leastRequests} were wanted`]
        : []),
      ...(audit.verdict === 'pass' ? [] : [`audit: ${[audit.verdict, ...audit.violated].join('; ')}`]),
    ],
  };
}

type Part = Calm & { readonly service: string };

function paceOf({ service, load: { late, dropped, k6Dropped } }: Part): readonly string[] {
  const unsent = dropped + k6Dropped;
  if (late + unsent === 0) return [];
  return [`${service}: ${late} orders were sent late, ${unsent} were not sent`];
}

function rateMissOf({ service, load: { due, late, dropped, k6Dropped } }: Part): readonly string[] {
  // Both clients send half.
  const wanted = due * 2;
  const missed = late + dropped + k6Dropped;
  if (missed <= wanted * TOLERATED_SHARE) return [];
  return [`${service}: the rate was not held: ${missed} of about ${wanted} orders were late or not sent`];
}

function ledgerMissesOf({ service, lost, doubled }: Part): readonly string[] {
  return [
    ...(lost.length > 0 ? [`${service}: ${lost.length} orders lost: ${some(lost)}`] : []),
    ...(doubled.length > 0 ? [`${service}: ${doubled.length} orders doubled: ${some(doubled)}`] : []),
  ];
}

function missesOf({ service, traces, switches, ...one }: ServiceResult, chosen: Chosen): readonly string[] {
  const wanted = one.restarts * (chosen.scale === undefined ? chosen.replicas : chosen.scale - chosen.replicas);
  const others = traces.filter(({ verdict }) => verdict !== 'pass');
  return [
    ...(one.restartsFailed > 0 ? [`${service}: ${one.restartsFailed} restarts failed`] : []),
    ...(one.replaced === wanted
      ? []
      : [`${service}: ${one.replaced} replicas were replaced or added, expected ${wanted}`]),
    ...others.map(({ verdict, orderId, explanation }) => `${service}: trace of ${orderId}: ${verdict}: ${explanation}`),
    ...switchMissesOf(service, switches),
    ...(traces.length < chosen.traces ? [`${service}: ${traces.length} traces, ${chosen.traces} were wanted`] : []),
  ];
}

/**
 * In containers each gateway binds the port for itself: the kernel resets connections that a closing listener has not
 * accepted yet (docs/docker.md). They are stated, and are no miss.
 */
function isKnown({ service, connection, failure }: FailuresOf, { runtime }: Chosen): boolean {
  return runtime === 'docker' && service === 'gateway' && connection === 'new' && isReset(failure);
}

interface FailuresOf extends Failures {
  readonly service: string;
}

function describe({ service, client, connection, what, failure, count }: FailuresOf): string {
  return `${service}: ${count} x ${failure} (${what}, ${connection} connection, ${client === 'k6' ? 'k6' : 'our own client'})`;
}

const SHOWN = 5;
const some = (ids: readonly string[]) => [...ids.slice(0, SHOWN), ...(ids.length > SHOWN ? ['...'] : [])].join(', ');
