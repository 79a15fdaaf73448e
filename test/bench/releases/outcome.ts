/** What became of a release: from the journal of deploys and the orders of customers. Pure. */
import { isFailed, type OrderOutcome } from '../../../cli/src/alert-matrix/order-outcomes.ts';
import type { DeployRun, JournalRecord } from '../../../cli/src/deploy/run.ts';
import type { End, RowRecord } from './journal.ts';
import type { Finder, Trial } from './trials.ts';

/** ms since 1970. */
interface Times {
  readonly began: number;
  readonly decided: number;
  readonly over: number;
}

export function outcomeOf(
  run: DeployRun,
  records: readonly JournalRecord[],
  orders: readonly OrderOutcome[],
): Pick<RowRecord, 'end' | 'by' | 'why' | 'seconds' | 'failed' | 'served'> {
  const { began, decided, over } = timesOf(run, records);
  const by = finderOf(run);
  const verdict = run.verdicts?.at(-1)?.verdict;
  const hit = orders.filter((order) => order.sentAt + order.tookMs >= began && order.sentAt <= over && isHit(order));
  return {
    end: endOf(run),
    ...(by !== undefined && { by }),
    why: run.cause?.text.split('\n', 1)[0] ?? 'promoted',
    seconds: (decided - began) / 1_000,
    failed: hit.length,
    served: verdict?.canary.requests ?? 0,
  };
}

/** Without a share, its rollout begins when it is started. */
function timesOf({ id, weights, startedAt, changedAt }: DeployRun, records: readonly JournalRecord[]): Times {
  const timeOf = (state: string) =>
    records.find((one) => one.run === id && one.kind === 'state' && one.state === state)?.time;
  const began = weights?.[0]?.time ?? timeOf('preflight') ?? startedAt;
  const promotedAt = weights?.find(({ reason }) => reason === 'promoted')?.time;
  const decided = timeOf('rolling-back') ?? promotedAt ?? changedAt;
  return { began: Date.parse(began), decided: Date.parse(decided), over: Date.parse(changedAt) };
}

function endOf({ state, isDirty }: DeployRun): End {
  if (state === 'done') return 'promoted';
  if (state === 'inconclusive') return 'inconclusive';
  return state === 'rolled-back' && !isDirty ? 'rolled-back' : 'unknown';
}

function finderOf({ cause, verdicts }: DeployRun): Finder | undefined {
  if (cause?.guard !== undefined) return cause.guard;
  const worse = verdicts?.at(-1)?.verdict.reasons.find((reason) => reason.code === 'worse');
  if (cause?.kind !== 'worse' || worse?.code !== 'worse') return undefined;
  return worse.test === 'errors' ? 'test E' : 'test S';
}

/** A response that its request explains does not count: a 4xx of an invalid order, an order that was declined or is out of stock. */
function isHit(order: OrderOutcome): boolean {
  return isFailed(order) || (order.http >= 400 && ![400, 422].includes(order.http));
}

/** Customers that a row's release did harm to. Pure. */
export function hitBy({ isSilent }: Trial, { failed, served }: RowRecord): number {
  return isSilent ? Math.max(failed, served) : failed;
}

/** What is not as it has to be; empty where all is. Pure. */
export function missesOf(trial: Trial, row: RowRecord): readonly string[] {
  const { foundBy, limitS, mostHit } = trial;
  const isGood = foundBy.length === 0;
  if (isGood) return row.end === 'promoted' ? [] : [`${row.end} by ${row.by ?? 'nothing'}: ${row.why}`];
  if (row.end !== 'rolled-back') return [`${row.end}: ${row.why}`];
  const hit = hitBy(trial, row);
  return [
    ...(foundBy.includes(row.by ?? '') ? [] : [`found by ${row.by ?? 'nothing'}, not ${foundBy.join(' or ')}`]),
    ...(row.seconds <= limitS ? [] : [`after ${row.seconds.toFixed(1)} s, not ${limitS} s`]),
    ...(hit <= mostHit ? [] : [`${hit} customers hit, not ${mostHit}`]),
  ];
}
