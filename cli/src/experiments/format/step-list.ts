import type { Path } from '../../yaml/problem.ts';
import { isObject } from '../../yaml/read.ts';
import type { ResolvedExperiment, Step } from './schema.ts';

export type Section = 'hypothesis' | 'method' | 'recovery';

/** A step with its place. */
export interface PlacedStep {
  readonly section: Section;
  readonly path: Path;
  readonly step: Step;
}

const sections: readonly { readonly section: Section; readonly path: Path }[] = [
  { section: 'hypothesis', path: ['steady-state-hypothesis', 'probes'] },
  { section: 'method', path: ['method'] },
  { section: 'recovery', path: ['recovery'] },
];

/** Every step in the order in which it first runs; also of a file that is only partly right, so `step` may hold anything. */
export function stepsOf(experiment: Partial<ResolvedExperiment>): readonly PlacedStep[] {
  return sections.flatMap(({ section, path }) => {
    const list = path.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), experiment);
    if (!Array.isArray(list)) return [];
    return list.flatMap((step: unknown, index) =>
      isObject(step) ? [{ section, path: [...path, index], step: step as unknown as Step }] : [],
    );
  });
}
