import type { RecentLook } from '../../audit/recent.ts';
import { messageOf } from '../../errors.ts';
import type { MetricPoint } from '../../otlp/metric-store.ts';
import type { InstanceState } from '../../platform/state.ts';
import type { ProcessUsage } from '../../process/process-stats.ts';
import { services } from '../../topology/services.ts';
import type { Evidence } from '../analysis/evidence.ts';
import { type GuardReading, type Level, readTotalErrors, TOTAL_WINDOW_MS } from '../analysis/guards.ts';
import type { CanaryPlan } from '../analysis/plan.ts';
import { ATTEMPTS, DURATIONS, evidenceBetween, missingIn, totalsOf } from '../analysis/read-evidence.ts';
import { followSlowLimit } from '../analysis/slow-limit.ts';
import type { Arms } from '../analysis/weights.ts';
import { type AuditGuard, createAuditGuard } from './audit-look.ts';
import { deadLettersIn, QUEUE_MESSAGES, readDeadLetters } from './dead-letters.ts';
import { createInstanceGuards } from './instances.ts';
import { createMemoryGuard } from './memory.ts';
import { type CanaryObserver, reads } from './seen.ts';
import type { TraceGuard } from './trace-samples.ts';
import { createWorkGuard, type Work } from './work-per-order.ts';

export interface ObserverDeps {
  instances(): readonly InstanceState[];
  /** Latest points of these names. */
  metrics(names: readonly string[]): Promise<readonly MetricPoint[]>;
  /** CPU and memory of a process; undefined where it is gone. */
  usage(pid: number): Promise<ProcessUsage | undefined>;
  /** Checks the orders placed since, ms since 1970. */
  audit(sinceMs: number): Promise<RecentLook>;
  traces(service: string): TraceGuard;
  /** ms since 1970. */
  now(): number;
}

const REQUESTS = ['http.server.request.duration', 'rpc.server.call.duration'];
const STATEMENTS = 'db.client.operation.duration';
const NAMES = [ATTEMPTS, DURATIONS, QUEUE_MESSAGES, STATEMENTS, ...REQUESTS];

type Points = readonly MetricPoint[];

/** Reads from the running platform what the analysis of a canary needs. */
export function createObserver(plan: CanaryPlan, deps: ObserverDeps): CanaryObserver {
  const { service, margin } = plan;
  const callers: readonly string[] = services
    .filter(({ calls = [] }) => (calls as readonly string[]).includes(service))
    .map(({ name }) => name);
  const hasDeadLetters = () => deps.instances().some(({ name }) => name === 'rabbitmq');
  const instanceGuards = createInstanceGuards();
  const memory = createMemoryGuard();
  const work = createWorkGuard();
  const traces = deps.traces(service);
  let audit: AuditGuard | undefined;
  let arms: Arms = { canary: [], stable: [], baseline: [] };
  let totalsAtBegin: Level | undefined;
  let level: Level | undefined;
  let atStart: Points = [];
  let before: Points | undefined;
  let requests = 0;
  const slowLimit = followSlowLimit({ service, above: plan.slow.above });
  let recent: readonly Evidence[] = [];

  async function read(): Promise<Points | string> {
    try {
      return await deps.metrics(NAMES);
    } catch (error) {
      return `the metrics cannot be read: ${messageOf(error)}`;
    }
  }

  function evidenceIn(points: Points, at: number, slowAboveS: number | undefined): readonly Evidence[] {
    if (before === undefined) return [];
    const lines = evidenceBetween(before, points, { service, at, slowAboveS });
    requests += lines.reduce((sum, { arm, requests: count }) => sum + (arm === 'canary' ? count : 0), 0);
    recent = [...recent, ...lines].filter((line) => line.at > at - TOTAL_WINDOW_MS);
    return lines;
  }

  /** A process that is young is slow, whatever its release is: so is each replica that joins for a larger share. */
  function slowAbove(points: Points): number | undefined {
    const isWarm = [requests, ...arms.canary.map((name) => requestsOf(name, points))].every(
      (served) => served >= plan.slow.warmUp,
    );
    return isWarm ? slowLimit.current() : undefined;
  }

  async function measure(points: Points, at: number): Promise<void> {
    const all = [...arms.canary, ...arms.stable, ...arms.baseline];
    const bytes = new Map<string, number>();
    const works = new Map<string, Work>();
    for (const { name, process } of deps.instances()) {
      const usage = all.includes(name) && process ? await deps.usage(process.pid) : undefined;
      if (usage === undefined) continue;
      bytes.set(name, usage.rssBytes);
      const own = ofInstance(name, points);
      works.set(name, {
        requests: requestsOf(name, points),
        statements: countOf(own, [STATEMENTS]),
        cpuMs: usage.cpuMs,
      });
    }
    memory.add(at, bytes);
    work.add(at, works);
  }

  function deadLetters(points: Points, at: number): GuardReading {
    if (!hasDeadLetters()) return reads('dead-letter', at)('held', 'there is no broker');
    return readDeadLetters(deadLettersIn(atStart), deadLettersIn(points), at);
  }

  function guards(points: Points, at: number): readonly GuardReading[] {
    const { canary, stable, baseline } = arms;
    const others = [...stable, ...baseline];
    const all = [
      ...instanceGuards.read(canary, deps.instances(), at),
      deadLetters(points, at),
      audit?.read(at) ?? reads('audit', at)('unknown', 'the rollout has not begun'),
      traces.read(canary, at),
      memory.read(canary, baseline.length > 0 ? baseline : stable, at),
      work.read(canary, { others, peers: baseline }, at),
      readTotalErrors(recent, { before: level, margin, now: at }),
    ];
    return all.filter(({ guard }) => plan.guards.includes(guard));
  }

  return {
    async begin() {
      const points = await read();
      if (typeof points !== 'string') totalsAtBegin = totalsOf(points, service);
    },
    async start(now) {
      arms = now;
      audit = createAuditGuard((since) => deps.audit(since), deps.now());
      const points = await read();
      if (typeof points === 'string') return;
      before = points;
      atStart = points;
      slowLimit.add(points);
      const total = totalsOf(points, service);
      const known = totalsAtBegin;
      if (known !== undefined) level = { requests: total.requests - known.requests, bad: total.bad - known.bad };
    },
    arms(now) {
      arms = now;
    },
    async look(at) {
      const points = await read();
      if (typeof points === 'string') return { evidence: [], guards: guards([], at), missing: [points] };
      const slowAboveS = slowAbove(points);
      const evidence = evidenceIn(points, at, slowAboveS);
      slowLimit.add(points);
      // What could not be read at the start is counted from the first look on.
      if (before === undefined) atStart = points;
      before = points;
      await measure(points, at);
      const names = deps
        .instances()
        .filter((one) => callers.includes(one.service) && one.status === 'ready')
        .map(({ name }) => name);
      return {
        evidence,
        guards: guards(points, at),
        missing: missingIn(points, names),
        ...(slowAboveS !== undefined && { slowAboveS }),
      };
    },
    stop: () => traces.stop(),
  };
}

const ofInstance = (name: string, points: Points) =>
  points.filter(({ instance, stale }) => instance === name && !stale);

/** What it has served since it was started. */
const requestsOf = (name: string, points: Points) => countOf(ofInstance(name, points), REQUESTS);

function countOf(points: Points, names: readonly string[]): number {
  return points.reduce(
    (sum, point) => (point.type === 'histogram' && names.includes(point.name) ? sum + point.count : sum),
    0,
  );
}
