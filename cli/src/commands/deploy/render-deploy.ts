import type { TestReading, Verdict } from '../../deploy/analysis/evaluate.ts';
import { describeReason, writePower } from '../../deploy/analysis/reasons.ts';
import type { DatedVerdict, DeployRun, DeployState } from '../../deploy/run.ts';
import type { Output } from '../../output/output.ts';
import { formatTable } from '../../output/table.ts';

type Painted = Pick<Output, 'style' | 'columns'>;

/** One deploy, for people. */
export function renderRun(run: DeployRun, { style }: Painted, progress?: DatedVerdict): string {
  const { service, strategy, from, to, state, isPaused, cause, isDirty } = run;
  const paint = painter(state, style);
  const next = nextOf(run);
  return [
    `${service} ${from} -> ${to} (${strategy}): ${paint(isPaused ? `${state}, paused` : state)}`,
    ...(cause ? [`  ${cause.guard ?? cause.kind}: ${cause.text.replaceAll('\n', '\n  ')}`] : []),
    ...(progress ? [`  ${renderVerdict(progress.verdict)}`] : []),
    ...(isDirty ? [`  ${style.red('it could not be rolled back completely')}`] : []),
    ...(next === undefined ? [] : [`  ${next}`]),
  ].join('\n');
}

/** `37 of 900 requests, evidence against it 0.3 of 125; 37 of 100 requests`: what is known of a canary, and what is missing. */
export function renderVerdict({ canary, stable, tests, reasons }: Verdict): string {
  const { errors, slow, promotion } = tests;
  const counts = `canary ${canary.bad} of ${canary.requests} failed, stable ${stable.bad} of ${stable.requests}`;
  const evidence = [
    `errors ${evidenceOf(errors)}`,
    slow.isUnknown ? 'slowness unknown' : `slowness ${evidenceOf(slow)}`,
    `promotion ${evidenceOf(promotion)}`,
  ];
  return [counts, evidence.join(', '), ...reasons.map(describeReason)].join('; ');
}

const evidenceOf = ({ logEvidence, logLimit }: TestReading) => `${writePower(logEvidence)} of ${writePower(logLimit)}`;

/** Past deploys, the newest first, and what runs in place of what the clone has built. */
export function renderHistory(
  { runs, releases }: { readonly runs: readonly DeployRun[]; readonly releases: Readonly<Record<string, string>> },
  output: Painted,
): string {
  if (runs.length === 0) return 'nothing was deployed yet';
  const rows = runs
    .toReversed()
    .map(({ id, startedAt, service, strategy, from, to, state, cause }) => [
      id,
      startedAt.slice(0, 19).replace('T', ' '),
      service,
      strategy,
      from,
      to,
      painter(state, output.style)(state),
      cause?.guard ?? cause?.kind ?? '',
    ]);
  const pinned = Object.entries(releases).map(([service, version]) => `${service} runs the release ${version}`);
  const table = formatTable(['RUN', 'TIME (UTC)', 'SERVICE', 'STRATEGY', 'FROM', 'TO', 'STATE', 'WHY'], rows);
  return [table, ...pinned].join('\n');
}

function painter(state: DeployState, style: Output['style']): (text: string) => string {
  if (state === 'done' || state === 'compared') return style.green;
  return state === 'rolled-back' || state === 'failed' || state === 'inconclusive' ? style.red : style.yellow;
}

function nextOf({ state, isDirty, service }: DeployRun): string | undefined {
  if (isDirty) return `see "shopctl status"; "shopctl restart ${service}" starts what is recorded`;
  if (state === 'held')
    return 'decide: "shopctl deploy promote" has the new release serve, "shopctl deploy abort" rolls it back';
  if (state === 'analysis')
    return '"shopctl deploy promote" ends its evaluation and has it serve, "shopctl deploy abort" rolls it back';
  if (state === 'kept')
    return 'it is watched: "shopctl deploy promote" ends that, "shopctl deploy abort" rolls it back';
  if (state === 'compared') return `it served no client: "shopctl deploy ${service}" deploys it`;
  return undefined;
}
