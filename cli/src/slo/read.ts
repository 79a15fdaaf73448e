import { parseYaml } from '../yaml/document.ts';
import type { SchemaNode } from '../yaml/expected.ts';
import { type FileProblem, type Problem, writePath } from '../yaml/problem.ts';
import { isObject, read } from '../yaml/read.ts';
import { checkSlo } from './check.ts';
import { type SloDocument, SloFile, WINDOW } from './schema.ts';
import type { Slo } from './slo.ts';

/** An SLO, or everything that is wrong with its file. */
export type ReadResult =
  | { readonly slo: Slo; readonly problems: readonly [] }
  | { readonly slo: undefined; readonly problems: readonly FileProblem[] };

/** Reads the text of an SLO's file. Pure. */
export function readSlo(text: string): ReadResult {
  const yaml = parseYaml(text);
  if (yaml.errors.length > 0) {
    return { slo: undefined, problems: yaml.errors.map(({ place, message }) => ({ ...place, path: '', message })) };
  }
  // A file with none of these is not an SLO: its contents are not quoted.
  if (!isObject(yaml.value) || !['apiVersion', 'kind', 'spec'].some((key) => key in (yaml.value as object))) {
    const message = 'the file is not an SLO: it has neither apiVersion nor kind nor spec';
    return { slo: undefined, problems: [{ line: 1, column: 1, path: '', message }] };
  }
  const problems: Problem[] = [];
  const document = read(SloFile as SchemaNode, yaml.value, [], { problems }) as SloDocument;
  const hasSpec = isObject(document.spec);
  const all = hasSpec ? [...problems, ...checkSlo(document, problems)] : problems;
  if (all.length === 0) return { slo: sloOf(document), problems: [] };
  const placed = all.map(({ path, message, isKey = false }) => ({
    ...yaml.placeOf(path, { ofKey: isKey }),
    path: writePath(path),
    message,
  }));
  return { slo: undefined, problems: placed.toSorted((a, b) => a.line - b.line || a.column - b.column) };
}

function sloOf({ metadata, spec }: SloDocument): Slo {
  const { ratioMetric: ratio } = spec.indicator.spec;
  const queryOf = (metric: typeof ratio.total) => {
    const query = metric.metricSource.spec.query.trim().replaceAll(/\s*\n\s*/g, ' ');
    return (window: string) => query.replaceAll(WINDOW, window);
  };
  const total = queryOf(ratio.total);
  const target = (profile: string) =>
    (
      spec.objectives.find(({ displayName }) => displayName === profile) ??
      spec.objectives.find(({ displayName }) => displayName === 'any')
    )?.target ?? Number.NaN;
  const good = ratio.good && queryOf(ratio.good);
  const bad = ratio.bad && queryOf(ratio.bad);
  return {
    name: metadata.name,
    title: metadata.displayName,
    description: spec.description,
    service: spec.service,
    counts: spec.budgetingMethod === 'Occurrences' ? 'requests' : 'seconds',
    isCounter: ratio.counter,
    bad: bad ?? ((window) => `clamp_min(${total(window)} - ${good?.(window)}, 0)`),
    total,
    window: spec.timeWindow[0]?.duration ?? '',
    objectives: { production: target('production'), laptop: target('laptop') },
    alerts: spec.alertPolicies.map(({ metadata: { name, annotations }, spec: { conditions } }) => ({
      name,
      ...annotations,
      burns: conditions.map(({ metadata: { name: burn }, spec: { severity, condition } }) => ({
        name: burn,
        severity,
        threshold: condition.threshold,
        long: condition.lookbackWindow,
        short: condition.alertAfter,
      })),
    })),
  };
}
