import { didYouMean, type Problem } from '../../yaml/problem.ts';
import type { OrdersTolerance, Step } from './schema.ts';
import type { PlacedStep } from './step-list.ts';

/** The word for the beginning of the run, where a step can be named. */
const START = 'start';

/** A place in a step that names another one. */
interface Reference {
  /** Keys from the step. */
  readonly at: Problem['path'];
  readonly name: string | undefined;
  /** What the other step must be. */
  readonly of: keyof typeof kinds;
}

const ordersLike = ['orders', 'history', 'load'];

const kinds = {
  orders: { what: 'a step that places orders', fits: (step: Step) => ordersLike.includes(typeOf(step)) },
  placed: { what: 'a step of type orders', fits: (step: Step) => typeOf(step) === 'orders' },
  sent: { what: 'a step of type orders, nor a load', fits: (step: Step) => ['orders', 'load'].includes(typeOf(step)) },
  load: { what: 'a load', fits: (step: Step) => typeOf(step) === 'load' },
  fault: { what: 'a fault', fits: (step: Step) => typeOf(step) === 'fault' },
  background: { what: 'a step with background: true, nor a load with for', fits: goesOnAndEnds },
  any: { what: 'a step', fits: () => true },
} as const;

/** Runs in the background and ends: a join of a load without an end would never return. */
function goesOnAndEnds(step: Step): boolean {
  if (step.type === 'action' && step.provider.type === 'load') return step.provider.for !== undefined;
  return 'background' in step && step.background;
}

function typeOf(step: Step): string {
  return step.type === 'hold' ? 'hold' : step.provider.type;
}

/** Duplicate names, and references to steps that do not exist, come later, or are of another kind. */
export function checkNames(steps: readonly PlacedStep[], readable: ReadonlySet<Step>): Problem[] {
  return [
    ...duplicates(steps),
    ...steps.flatMap((placed, index) =>
      readable.has(placed.step)
        ? referencesOf(placed.step).flatMap((reference) => checkReference(reference, index, { steps, readable }))
        : [],
    ),
  ];
}

function duplicates(steps: readonly PlacedStep[]): Problem[] {
  const seen = new Set<unknown>([START]);
  return steps.flatMap(({ path, step: { name } }) => {
    if (typeof name !== 'string') return [];
    const isKnown = seen.has(name);
    seen.add(name);
    const message =
      name === START
        ? `"${START}" is the beginning of the run; take another name`
        : `duplicate name: another step is named "${name}"`;
    return isKnown ? [{ path: [...path, 'name'], message }] : [];
  });
}

function referencesOf(step: Step): readonly Reference[] {
  if (step.type === 'hold') return [];
  return [...referencesOfProvider(step), ...referencesOfTolerance(step)].filter(
    ({ name }) => name !== undefined && name !== START,
  );
}

function referencesOfProvider({ provider }: Exclude<Step, { type: 'hold' }>): readonly Reference[] {
  const at = (key: string) => ['provider', key];
  switch (provider.type) {
    case 'orders':
      return [{ at: at('repeat-of'), name: provider['repeat-of'], of: 'placed' }];
    case 'revert':
      return [{ at: at('of'), name: provider.of, of: 'fault' }];
    case 'stop-load':
      return [{ at: at('of'), name: provider.of, of: 'load' }];
    case 'history':
      return [{ at: at('of'), name: provider.of, of: 'sent' }];
    case 'join':
      return [{ at: at('of'), name: provider.of, of: 'background' }];
    case 'trace':
    case 'publish':
      return [{ at: at('of'), name: provider.of, of: 'orders' }];
    case 'metric':
    case 'log':
    case 'process':
      return [{ at: at('since'), name: provider.since, of: 'any' }];
    default:
      return [];
  }
}

function referencesOfTolerance(step: Exclude<Step, { type: 'hold' }>): readonly Reference[] {
  const { type } = step.provider;
  if ((type !== 'orders' && type !== 'history') || !('tolerance' in step)) return [];
  const { ratio, added, 'same-ids-as': same } = step.tolerance as OrdersTolerance;
  return [
    ...baselinesOf('ratio', ratio?.of),
    ...baselinesOf('added', added?.of),
    { at: ['tolerance', 'same-ids-as'], name: same, of: 'placed' },
  ];
}

/** One step, or a list of them. */
function baselinesOf(key: 'ratio' | 'added', of: string | readonly string[] | undefined): readonly Reference[] {
  const at = ['tolerance', key, 'of'];
  if (of === undefined || typeof of === 'string') return [{ at, name: of, of: 'orders' }];
  return of.map((name, index) => ({ at: [...at, index], name, of: 'orders' as const }));
}

interface Steps {
  readonly steps: readonly PlacedStep[];
  readonly readable: ReadonlySet<Step>;
}

function checkReference({ at, name, of }: Reference, index: number, { steps, readable }: Steps): Problem[] {
  const from = steps[index] as PlacedStep;
  const problem = (message: string): Problem[] => [{ path: [...from.path, ...at], message }];
  const target = steps.findIndex(({ step }) => step.name === name);
  const { what, fits } = kinds[of];
  if (target === -1) {
    const names = steps.map(({ step }) => step.name).filter((one) => typeof one === 'string');
    return problem(`unknown step "${name}"${didYouMean(name, names)}`);
  }
  const { step } = steps[target] as PlacedStep;
  // Problems of a step that could not be read are reported there.
  if (readable.has(step) && !fits(step)) return problem(`"${name}" is not ${what}`);
  if (target >= index) return problem(`"${name}" comes later; only steps before this one can be named`);
  return [];
}
