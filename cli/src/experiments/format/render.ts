import type { Style } from '../../output/style.ts';
import { formatTable } from '../../output/table.ts';
import { writeDuration } from '../../shared/duration.ts';
import type { FoundExperiment } from './catalog.ts';
import { describeAudit, describeEvent, describeStep } from './describe.ts';
import type { ResolvedExperiment, Step } from './schema.ts';

/** The catalog, grouped by the folders of the files. */
export function renderList(found: readonly FoundExperiment[], style: Style): string {
  const groups = Map.groupBy(found, ({ file }) => areaOf(file));
  const parts = [...groups].map(([area, entries]) => {
    const rows = entries.map(({ experiment }) => {
      const { id, title, budget, tags } = experiment;
      return [
        `  ${style.bold(id)}`,
        title,
        writeDuration(budget),
        tags.join(', '),
        style.dim(needsOf(experiment).join(', ')),
      ];
    });
    return `${area}\n${formatTable([], rows)}`;
  });
  return parts.join('\n\n') || 'no experiments under chaos/';
}

/** `chaos/payments/E08-slow.yaml` is of `payments`. */
export function areaOf(file: string): string {
  return /^chaos\/([^/]+)\//.exec(file)?.[1] ?? 'others';
}

/** What an experiment is, as a person reads it. */
export function renderExperiment({ file, experiment }: FoundExperiment, style: Style): string {
  const { id, title, why, tags, budget, seed, configuration } = experiment;
  const needs = needsOf(experiment);
  const settings = Object.entries(configuration).map(([name, value]) => `${name}=${String(value)}`);
  const facts = [
    ['file', file],
    ...(tags.length > 0 ? [['tags', tags.join(', ')]] : []),
    ['budget', writeDuration(budget)],
    ['seed', String(seed)],
    ...(needs.length > 0 ? [['needs', needs.join(', ')]] : []),
    ...(settings.length > 0 ? [['set', settings.join(', ')]] : []),
  ];
  return [
    `${style.bold(id)} ${title}`,
    '',
    why.trim(),
    '',
    formatTable(
      [],
      facts.map(([name = '', value = '']) => [style.dim(name), value]),
    ),
    '',
    ...sectionsOf(experiment, style),
  ].join('\n');
}

/** What `--dry-run` says: what would be done, in order; nothing is touched. */
export function renderPlan(experiment: ResolvedExperiment): string {
  const { id, title, seed, budget, method, recovery } = experiment;
  const hypothesis = experiment['steady-state-hypothesis'];
  const needs = needsOf(experiment);
  const phases: readonly (readonly [string, readonly string[]])[] = [
    [`steady before: ${hypothesis.title}`, lines(hypothesis.probes)],
    ['method', lines(method)],
    ['revert', ['revert every fault, and check that each is gone']],
    ['recovery', lines(recovery)],
    [`steady after: ${hypothesis.title}`, lines(hypothesis.probes)],
    ['reach', experiment.reach.map(describeEvent)],
    ['never', experiment.never.map(describeEvent)],
    ['audit', [describeAudit(experiment)]],
  ];
  return [
    `${id} ${title} (seed ${seed}, within ${writeDuration(budget)})`,
    `platform: ${needs.length > 0 ? needs.join(', ') : 'as it is'}`,
    ...phases
      .filter(([, steps]) => steps.length > 0)
      .flatMap(([phase, steps]) => [phase, ...steps.map((step) => `  ${step}`)]),
  ].join('\n');
}

function sectionsOf(experiment: ResolvedExperiment, style: Style): string[] {
  const hypothesis = experiment['steady-state-hypothesis'];
  const sections: readonly (readonly [string, readonly string[]])[] = [
    [`steady before and after: ${hypothesis.title}`, lines(hypothesis.probes, style)],
    ['method', lines(experiment.method, style)],
    ['recovery, after every fault is reverted', lines(experiment.recovery, style)],
    ['must have happened', experiment.reach.map(describeEvent)],
    ['must not have happened', experiment.never.map(describeEvent)],
    ['audit', [describeAudit(experiment)]],
  ];
  return sections
    .filter(([, steps]) => steps.length > 0)
    .flatMap(([title, steps]) => [style.bold(title), ...steps.map((step) => `  ${step}`)]);
}

function lines(steps: readonly Step[], style?: Style): readonly string[] {
  return steps.map((step, index) => {
    const name = style ? style.cyan(step.name) : step.name;
    return `${String(index + 1).padStart(2)} ${name}: ${describeStep(step)}`;
  });
}

/** `alone`, `failpoints`, `orders x 2`, `EDGE_...=500`, `seeded bug no-inbox` */
function needsOf({ alone, platform }: Pick<ResolvedExperiment, 'alone' | 'platform'>): readonly string[] {
  const { failpoints, replicas, env, alerts, 'seeded-bugs': seededBugs } = platform;
  return [
    ...(alone ? ['alone'] : []),
    ...(failpoints ? ['failpoints'] : []),
    ...(alerts ? ['alerts'] : []),
    ...Object.entries(replicas).map(([service, count]) => `${service} x ${count}`),
    ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
    ...seededBugs.map((name) => `seeded bug ${name}`),
  ];
}
