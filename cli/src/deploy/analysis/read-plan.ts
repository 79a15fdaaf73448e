import { durationMs } from '../../shared/duration.ts';
import { parseYaml } from '../../yaml/document.ts';
import type { SchemaNode } from '../../yaml/expected.ts';
import { type FileProblem, type Problem, writePath } from '../../yaml/problem.ts';
import { isObject, read } from '../../yaml/read.ts';
import { checkPlan } from './check-plan.ts';
import { type CanaryPlan, splitAlpha } from './plan.ts';
import { PLAN_VERSION, type PlanDocument, PlanFile } from './plan-schema.ts';

/** A plan, or everything that is wrong with its file. */
export type ReadPlan =
  | { readonly plan: CanaryPlan; readonly problems: readonly [] }
  | { readonly plan: undefined; readonly problems: readonly FileProblem[] };

/** Reads the text of a plan. Pure. */
export function readPlan(text: string): ReadPlan {
  const yaml = parseYaml(text);
  if (yaml.errors.length > 0) {
    return { plan: undefined, problems: yaml.errors.map(({ place, message }) => ({ ...place, path: '', message })) };
  }
  // A file with none of these is not a plan: its contents are not quoted.
  if (!isObject(yaml.value) || !['version', 'strategy', 'steps'].some((key) => key in (yaml.value as object))) {
    const message = `the file is not a plan: ${PLAN_VERSION} has version, strategy and steps`;
    return { plan: undefined, problems: [{ line: 1, column: 1, path: '', message }] };
  }
  const problems: Problem[] = [];
  const document = read(PlanFile as SchemaNode, yaml.value, [], { problems }) as PlanDocument;
  const all = [...problems, ...checkPlan(document, problems)];
  if (all.length === 0) return { plan: planOf(document), problems: [] };
  const placed = all.map(({ path, message, isKey = false }) => ({
    ...yaml.placeOf(path, { ofKey: isKey }),
    path: writePath(path),
    message,
  }));
  return { plan: undefined, problems: placed.toSorted((a, b) => a.line - b.line || a.column - b.column) };
}

function planOf({ service, baseline, steps, limit, analysis }: PlanDocument): CanaryPlan {
  const { alpha, errors, slow, margin, guards } = analysis;
  const split = splitAlpha(alpha);
  return {
    service,
    baseline,
    steps: steps.map(({ weight, requests, for: least }) => ({ share: weight / 100, requests, forMs: msOf(least) })),
    limitMs: msOf(limit),
    errors: { alpha: split.errors, tolerate: errors.tolerate },
    slow: {
      alpha: split.slow,
      tolerate: slow.tolerate,
      above: Number(slow.above.slice(1)) / 100,
      warmUp: slow['warm-up'],
    },
    margin: shareOf(margin),
    guards,
  };
}

/** Of a duration that was checked. */
const msOf = (text: string) => durationMs(text) ?? 0;

/** `1%` is 0.01. */
const shareOf = (text: string) => Number((Number.parseFloat(text) / 100).toPrecision(12));
