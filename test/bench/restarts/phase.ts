/** Restarts of one service under load, as often as was asked for, and what was seen meanwhile. */
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../../cli/src/errors.ts';
import type { TraceSampler } from '../../../cli/src/load/trace-sample.ts';
import { askedFrom } from '../../../cli/src/platform/change-log.ts';
import type { ControlClient } from '../../../cli/src/platform/control-client.ts';
import type { InstanceState } from '../../../cli/src/platform/state.ts';
import type { OrderRecord } from '../../../scenarios/lib/record.ts';
import { type BatchOptions, runBatch } from './batch.ts';
import type { Deploys } from './deploys.ts';
import type { Pace } from './own-client.ts';
import { secondsOfLoad, startsInTime } from './schedule.ts';
import type { Switch } from './switches.ts';
import type { Counted } from './tally.ts';

export interface PhaseOptions extends Omit<BatchOptions, 'durationS' | 'phase' | 'keys' | 'onOrder'> {
  readonly service: string;
  readonly restarts: number;
  /** From the beginning of a restart to that of the next one, ms; longer where a restart takes longer. */
  readonly everyMs: number;
  readonly control: ControlClient;
  readonly replicas: number;
  /** Replicas to which the service is scaled, and back, in place of a restart. */
  readonly scale: number | undefined;
  /** The service is deployed in place of each restart. */
  readonly deploys: Deploys | undefined;
  /** Begins every Idempotency-Key of the run. */
  readonly runId: string;
  readonly traces: TraceSampler;
  say(line: string): void;
}

export interface Restart {
  readonly tookMs: number;
  /** Monotonic, ms. */
  readonly endedMs: number;
  /** Processes or containers that are there instead of others, or in addition. */
  readonly replaced: number;
  /** Why it failed. */
  readonly error?: string;
}

export interface Phase {
  readonly restarts: readonly Restart[];
  /** Restarts that ended after their load, and were repeated. */
  readonly afterLoad: number;
  readonly counted: readonly Counted[];
  readonly orders: readonly OrderRecord[];
  readonly pace: Pace & { readonly k6Dropped: number };
  /** Of blue-green deploys. */
  readonly switches: readonly Switch[];
}

/** A service that cannot be restarted so often in a row is not measured on. */
const MOST_ERRORS = 3;

/** Loads follow each other until the service was restarted often enough; each restart lies within one of them. */
export async function runPhase(options: PhaseOptions): Promise<Phase> {
  const { service, everyMs, runId, traces, say } = options;
  const restarts: Restart[] = [];
  const afterLoad: Restart[] = [];
  const counted: Counted[] = [];
  const orders: OrderRecord[] = [];
  let pace = { due: 0, late: 0, dropped: 0, k6Dropped: 0 };
  for (let batch = 1; restarts.length < options.restarts; batch += 1) {
    const remaining = options.restarts - restarts.length;
    const tookMs = [...restarts, ...afterLoad].map((one) => one.tookMs);
    const load = await runBatch(
      {
        ...options,
        durationS: secondsOfLoad(remaining, { everyMs, tookMs }),
        phase: service,
        keys: `${runId}-${service}-${batch}`,
        onOrder(record) {
          traces.offer(record);
          options.deploys?.onOrder(record);
        },
      },
      async (untilMs) => {
        for (const one of await restartUntil(untilMs, { ...options, restarts: remaining, tookMs }))
          (one.endedMs <= untilMs ? restarts : afterLoad).push(one);
      },
    );
    for (const one of load.counted) counted.push(one);
    for (const one of load.orders) orders.push(one);
    pace = {
      due: pace.due + load.pace.due,
      late: pace.late + load.pace.late,
      dropped: pace.dropped + load.pace.dropped,
      k6Dropped: pace.k6Dropped + load.k6Dropped,
    };
    say(
      `${service}: ${restarts.length} of ${options.restarts} restarts, ${counted.length} requests, ${counted.filter(({ failure }) => failure !== undefined).length} failed`,
    );
    const last = restarts.slice(-MOST_ERRORS);
    if (last.length === MOST_ERRORS && last.every(({ error }) => error !== undefined))
      throw new Error(`${service} could not be restarted: ${last[0]?.error}`);
  }
  traces.fillUp();
  const switches = options.deploys?.switches(service) ?? [];
  return { restarts, afterLoad: afterLoad.length, counted, orders, pace, switches };
}

interface Restarting
  extends Pick<
    PhaseOptions,
    'service' | 'restarts' | 'everyMs' | 'control' | 'scale' | 'deploys' | 'replicas' | 'say'
  > {
  /** Of restarts before, ms. */
  readonly tookMs: readonly number[];
}

/** Restarts one after the other while there is time for another one before the load ends. */
async function restartUntil(untilMs: number, { tookMs, ...options }: Restarting): Promise<readonly Restart[]> {
  const made: Restart[] = [];
  while (made.length < options.restarts) {
    const nowMs = performance.now();
    if (!startsInTime(nowMs, { untilMs, tookMs: [...tookMs, ...made.map((one) => one.tookMs)] })) break;
    const one = await restart(options);
    if (one.error !== undefined) options.say(`${options.service}: a restart failed: ${one.error}`);
    made.push(one);
    await delay(Math.min(Math.max(0, options.everyMs - one.tookMs), Math.max(0, untilMs - performance.now())));
  }
  return made;
}

async function restart(options: Target & Pick<PhaseOptions, 'scale'>): Promise<Restart> {
  const beganMs = performance.now();
  let replaced = 0;
  let error: string | undefined;
  try {
    replaced = options.scale === undefined ? await replaceAll(options) : await scaleAndBack(options, options.scale);
  } catch (thrown) {
    error = messageOf(thrown);
  }
  const endedMs = performance.now();
  return { tookMs: endedMs - beganMs, endedMs, replaced, ...(error !== undefined && { error }) };
}

type Target = Pick<PhaseOptions, 'service' | 'control' | 'replicas' | 'deploys'>;

async function replaceAll(target: Target): Promise<number> {
  const before = await runs(target);
  if (target.deploys) await target.deploys.deploy(target.service);
  else await target.control.service(target.service, 'restart', askedFrom('command line'));
  return countNew(before, await runs(target));
}

async function scaleAndBack(target: Target, scale: number): Promise<number> {
  const to = (replicas: number) =>
    target.control.operate(
      { kind: 'scale', replicas: { [target.service]: replicas } },
      { dryRun: false, asked: askedFrom('command line') },
    );
  const before = await runs(target);
  await to(scale);
  const added = countNew(before, await runs(target));
  await to(target.replicas);
  return added;
}

function countNew(before: readonly string[], after: readonly string[]): number {
  return after.filter((one) => !before.includes(one)).length;
}

/** Names that no two runs of instances share. */
async function runs({ service, control }: Target): Promise<readonly string[]> {
  const { instances } = await control.state();
  return instances.filter((one) => one.service === service).map(runOf);
}

function runOf({ name, process, startedAt }: InstanceState): string {
  return `${name} ${process?.pid} ${process?.startTime} ${startedAt}`;
}
