import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError, messageOf } from '../errors.ts';
import type { Severity } from '../pager/alert.ts';
import { parseYaml } from '../yaml/document.ts';
import type { SchemaNode } from '../yaml/expected.ts';
import { didYouMean, type FileProblem, type Path, type Problem, writePath } from '../yaml/problem.ts';
import { isObject, read } from '../yaml/read.ts';
import { type ExpectedDocument, ExpectedFile } from './expected-schema.ts';
import { type Pair, pairName } from './pair.ts';

export const EXPECTED_FILE = 'dashboards/expected.yaml';

/** Whether an alert belongs to a fault. */
export type Expectation = 'must' | 'may' | 'must not';

/** What a file expects of pairs. */
export interface Expected {
  /** Undefined where no group has the pair. */
  groupOf(pair: Pick<Pair, 'fault' | 'target' | 'variant'>): ExpectedGroup | undefined;
}

export interface ExpectedGroup {
  readonly name: string;
  /** Of an alert that is in no list: a page must not fire, anything else may. */
  of(alertname: string, severity: Severity): Expectation;
}

/** What a file may refer to. */
export interface ExpectedNames {
  readonly pairs: readonly Pair[];
  readonly alerts: readonly string[];
}

export type ReadResult =
  | { readonly expected: Expected; readonly problems: readonly [] }
  | { readonly expected: undefined; readonly problems: readonly FileProblem[] };

/** The file of the clone. Throws CliError (2) with everything that is wrong with it. */
export async function readExpected(root: string, names: ExpectedNames): Promise<Expected> {
  const { expected, problems } = parseExpected(await textOf(join(root, EXPECTED_FILE)), names);
  if (expected !== undefined) return expected;
  throw new CliError({
    code: 'invalid_expectations',
    what: `${EXPECTED_FILE} is not valid`,
    why: problems
      .map(({ line, column, path, message }) => `${EXPECTED_FILE}:${line}:${column} ${path && `${path}: `}${message}`)
      .join('\n'),
    next: 'correct it; docs/alerts.md describes the format',
  });
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new CliError({
      code: 'invalid_expectations',
      what: `${EXPECTED_FILE} cannot be read`,
      why: messageOf(cause),
      next: 'restore it: the clone has it',
      cause,
    });
  }
}

/** Reads the text of a file; all mistakes are reported, in their order. Pure. */
export function parseExpected(text: string, names: ExpectedNames): ReadResult {
  const yaml = parseYaml(text);
  if (yaml.errors.length > 0) {
    return {
      expected: undefined,
      problems: yaml.errors.map(({ place, message }) => ({ ...place, path: '', message })),
    };
  }
  const problems: Problem[] = [];
  const document = read(ExpectedFile as SchemaNode, yaml.value, [], { problems }) as ExpectedDocument;
  if (problems.length === 0) problems.push(...checkNames(document, names), ...checkTwice(document));
  if (problems.length === 0 && isObject(document)) return { expected: expectedOf(document), problems: [] };
  const placed = problems.map(({ path, message, isKey = false }) => ({
    ...yaml.placeOf(path, { ofKey: isKey }),
    path: writePath(path),
    message,
  }));
  return { expected: undefined, problems: placed.toSorted((a, b) => a.line - b.line || a.column - b.column) };
}

const LISTS = ['must', 'may', 'must-not'] as const;

function checkNames({ groups }: ExpectedDocument, { pairs, alerts }: ExpectedNames): readonly Problem[] {
  const known = {
    faults: [...new Set(pairs.map(({ fault }) => fault))],
    targets: [...new Set(pairs.map(({ target }) => target))],
  };
  const unknownIn = (kind: string, names: readonly string[], all: readonly string[], path: Path) =>
    names.flatMap((name, index) =>
      all.includes(name)
        ? []
        : [
            {
              path: [...path, index],
              message: `unknown ${kind} "${name}"${didYouMean(name, all)}: one of ${all.join(', ')}`,
            },
          ],
    );
  return groups.flatMap((group, at) => [
    ...LISTS.flatMap((list) => unknownIn('alert', group[list], alerts, ['groups', at, list])),
    ...group.pairs.flatMap((some, index) => {
      const path = ['groups', at, 'pairs', index];
      const wrong = [
        ...unknownIn('fault', some.faults, known.faults, [...path, 'faults']),
        ...unknownIn('target', some.targets, known.targets, [...path, 'targets']),
      ];
      return wrong.length > 0 ? wrong : checkPairs(some, pairs, path);
    }),
  ]);
}

type SomePairs = ExpectedDocument['groups'][number]['pairs'][number];

function checkPairs(some: SomePairs, pairs: readonly Pair[], path: Path): readonly Problem[] {
  const known = new Set(pairs.map(pairName));
  return namesOf(some)
    .filter((name) => !known.has(name))
    .map((name) => ({ path, message: `the matrix has no pair "${name}"${didYouMean(name, [...known])}` }));
}

/** `down orders-stock`, each of them. */
function namesOf({ faults, targets, variant }: SomePairs): readonly string[] {
  return faults.flatMap((fault) =>
    targets.map((target) => pairName({ fault, target, ...(variant !== undefined && { variant }) })),
  );
}

/** A pair in two groups, and an alert in two lists. */
function checkTwice({ groups }: ExpectedDocument): readonly Problem[] {
  const firstGroup = new Map<string, string>();
  return groups.flatMap((group, at) => [
    ...group.pairs.flatMap((some, index) =>
      namesOf(some).flatMap((name): Problem[] => {
        const first = firstGroup.get(name);
        firstGroup.set(name, first ?? group.name);
        if (first === undefined) return [];
        return [{ path: ['groups', at, 'pairs', index], message: `"${name}" is in the group "${first}" already` }];
      }),
    ),
    ...LISTS.flatMap((list) =>
      group[list].flatMap((alert, index): Problem[] => {
        const first = LISTS.find((one) => group[one].includes(alert));
        return first === list
          ? []
          : [{ path: ['groups', at, list, index], message: `${alert} is in ${first} already` }];
      }),
    ),
  ]);
}

function expectedOf({ groups }: ExpectedDocument): Expected {
  const byPair = new Map(
    groups.flatMap((group) =>
      group.pairs.flatMap((some) => namesOf(some).map((name) => [name, groupOf(group)] as const)),
    ),
  );
  return { groupOf: (pair) => byPair.get(pairName(pair)) };
}

function groupOf(group: ExpectedDocument['groups'][number]): ExpectedGroup {
  return {
    name: group.name,
    of(alertname, severity) {
      if (group.must.includes(alertname)) return 'must';
      if (group.may.includes(alertname)) return 'may';
      if (group['must-not'].includes(alertname) || severity === 'page') return 'must not';
      return 'may';
    },
  };
}
