import type { DeployPlan } from './engine.ts';
import type { CanaryTerms } from './run.ts';
import { LEAST_MESSAGES } from './shadow/watch-shadow.ts';

/** What a deploy would do, step by step, for people; `old` are the replicas that it replaces. Pure. */
export function stepsOf(
  {
    service,
    strategy,
    version,
    keepMs,
    isPublic: hasOwnPort,
    isSurging = false,
    isBuilt = false,
    source,
    canary,
  }: DeployPlan,
  old: readonly string[],
): string[] {
  const keep = `watch it for ${keepMs / 1000} s`;
  const build = isBuilt ? `use the image ${source}` : `build ${version}, or use what was built of the same sources`;
  if (strategy === 'shadow') {
    return [
      build,
      `start one replica of ${service} in the shadow: it gets copies of the events, and rolls back what it does`,
      `compare for ${keepMs / 1000} s what it would write with what is written, of ${LEAST_MESSAGES} messages at least`,
      'remove it',
    ];
  }
  const orders =
    'place five orders that they serve and one that is declined, and compare their traces with the contract';
  if (canary) return canarySteps(canary, { build, orders: orders.replace('they serve', 'it serves'), keepMs, old });
  if (strategy === 'rolling') {
    const where = hasOwnPort ? ', at a separate port,' : '';
    const one = orders.replace('they serve', 'it serves');
    return [
      build,
      `start one replica${where} beside the others`,
      one,
      'remove it while it serves six more orders',
      ...(isSurging ? ['start one more, which serves beside the others'] : []),
      ...old.map((name) => `replace ${name}`),
      ...(isSurging ? ['remove the added replica'] : []),
      keep,
    ];
  }
  const set = old.length === 1 ? 'a second replica' : `a second set of ${old.length} replicas`;
  return [
    build,
    `start ${set} of ${service}`,
    orders,
    'point all callers at it, in one write',
    keep,
    `remove ${old.join(', ')}`,
  ];
}

function canarySteps(
  { plan: { steps, baseline, limitMs }, onInconclusive, onFailure }: CanaryTerms,
  { build, orders, keepMs, old }: { build: string; orders: string; keepMs: number; old: readonly string[] },
): string[] {
  const percent = (share: number) => `${Number((share * 100).toPrecision(6))} %`;
  const worse = onFailure === 'rollback' ? 'roll it back' : 'leave all as it is';
  const open = onInconclusive === 'rollback' ? 'roll it back' : 'hold it';
  return [
    build,
    'start one replica as the canary',
    orders,
    ...(baseline === 'fresh' ? ['start a replica of the release of before, of the same age'] : []),
    ...steps.map(
      ({ share, requests, forMs }) =>
        `${percent(share)} of the requests to the canary, until it had ${requests}, for ${forMs / 1_000} s at least`,
    ),
    `where it is worse: ${worse}; where nothing is decided after ${limitMs / 1_000} s: ${open}`,
    `make it ${old.length === 1 ? 'the stable replica' : `${old.length} stable replicas`}, without a restart`,
    `watch it for ${keepMs / 1_000} s, with 5 % of the requests to ${old.join(', ')}`,
    `remove ${old.join(', ')}`,
  ];
}
