import { glob, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { CliError } from '../../errors.ts';
import { readAlertRules } from '../../pager/alert-rules.ts';
import { suggestName } from '../../shared/suggest-name.ts';
import type { ScenarioNames } from './check.ts';
import { readScenario } from './read.ts';
import type { Scenario, ScenarioTruth } from './schema.ts';

const FOLDER = 'drills';

/** The scenarios of the clone by id. Throws CliError (2) with everything that is wrong with their files. */
export async function readScenarios(root: string): Promise<readonly Scenario[]> {
  const alerts = [...new Set((await readAlertRules(root)).map(({ alertname }) => alertname))];
  const files: string[] = [];
  for await (const file of glob(`${FOLDER}/*/*.{yaml,yml}`, { cwd: root })) files.push(file);
  const texts = await Promise.all(
    files.toSorted().map(async (file) => ({ file, text: await readFile(join(root, file), 'utf8') })),
  );
  return resolveCatalog(texts, { alerts });
}

/** The same of texts by file. Pure. */
export function resolveCatalog(
  texts: readonly { readonly file: string; readonly text: string }[],
  names: ScenarioNames,
): readonly Scenario[] {
  const read = texts.map(({ file, text }) => ({ file, ...readScenario(text, names) }));
  const scenarios = read.flatMap(({ scenario }) => scenario ?? []);
  const problems = [
    ...read.flatMap(({ file, scenario, problems }) => [
      ...problems.map(
        ({ line, column, path, message }) => `${file}:${line}:${column} ${path && `${path}: `}${message}`,
      ),
      ...(scenario === undefined ? [] : misplaced(file, scenario)),
    ]),
    ...(scenarios.length === read.length ? unidentifiable(scenarios) : []),
  ];
  if (problems.length === 0) return scenarios.toSorted((a, b) => a.id.localeCompare(b.id));
  throw new CliError({
    code: 'invalid_drill',
    what: problems.length === 1 ? 'a scenario is not valid' : `scenarios are not valid: ${problems.length} problems`,
    why: problems.join('\n'),
    next: 'correct the files; docs/drills.md describes the format',
  });
}

/** The scenario with this id. Throws CliError (2) with the nearest one. */
export function findScenario(scenarios: readonly Scenario[], id: string): Scenario {
  const found = scenarios.find((one) => one.id === id);
  if (found) return found;
  const known = scenarios.map((one) => one.id);
  const suggestion = suggestName(id, known);
  throw new CliError({
    code: 'unknown_drill',
    what: `unknown scenario "${id}"${suggestion ? `, did you mean "${suggestion}"?` : ''}`,
    next: `there are ${known.join(', ')}`,
  });
}

function misplaced(file: string, { id, level }: Scenario): readonly string[] {
  const own = `${FOLDER}/${level}/${id}.yaml`;
  return file === own ? [] : [`${file}:1:1 the file of ${basename(own, '.yaml')} is ${dirname(own)}/${basename(own)}`];
}

/** Two scenarios of a level between which nothing decides: with other truths and the same clues. */
function unidentifiable(scenarios: readonly Scenario[]): readonly string[] {
  return scenarios.flatMap((one, index) =>
    scenarios.slice(index + 1).flatMap((other): string[] => {
      const areSame = one.level === other.level && cluesOf(one) === cluesOf(other);
      if (!areSame || truthOf(one) === truthOf(other)) return [];
      return [`${FOLDER}/${one.level}/${one.id}.yaml:1:1 clues: they do not differ from those of ${other.id}`];
    }),
  );
}

const cluesOf = ({ clues }: Scenario) => JSON.stringify(clues.map(({ where, look }) => `${where}: ${look}`).toSorted());
const truthOf = ({ truths }: Scenario) =>
  JSON.stringify(truths.map(({ component, mechanism, scope }: ScenarioTruth) => [component, mechanism, scope]));
