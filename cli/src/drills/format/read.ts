import { readFault } from '../../experiments/format/faults.ts';
import { durationMs, signedDurationMs } from '../../shared/duration.ts';
import { parseYaml } from '../../yaml/document.ts';
import { expected, type Reading, type SchemaNode } from '../../yaml/expected.ts';
import { type FileProblem, got, type Path, type Problem, writePath } from '../../yaml/problem.ts';
import { isObject, type ReadContext, type Reader, read, report } from '../../yaml/read.ts';
import { checkScenario, type ScenarioNames } from './check.ts';
import { type Scenario, ScenarioFile } from './schema.ts';

/** A scenario, or everything that is wrong with its file. */
export type ReadResult =
  | { readonly scenario: Scenario; readonly problems: readonly [] }
  | { readonly scenario: undefined; readonly problems: readonly FileProblem[] };

const readers: Readonly<Partial<Record<Reading, Reader>>> = {
  fault: readFault,
  duration: readTime('duration', durationMs),
  'signed duration': readTime('signed duration', signedDurationMs),
};

/** Reads the text of a scenario's file. Pure. */
export function readScenario(text: string, names: ScenarioNames): ReadResult {
  const yaml = parseYaml(text);
  if (yaml.errors.length > 0) {
    return {
      scenario: undefined,
      problems: yaml.errors.map(({ place, message }) => ({ ...place, path: '', message })),
    };
  }
  // A file with none of these is not a scenario: its contents are not quoted.
  if (!isObject(yaml.value) || !['version', 'inject', 'truths'].some((key) => key in (yaml.value as object))) {
    const message = 'the file is not a scenario: it has neither version nor inject nor truths';
    return { scenario: undefined, problems: [{ line: 1, column: 1, path: '', message }] };
  }
  const problems: Problem[] = [];
  const scenario = read(ScenarioFile as SchemaNode, yaml.value, [], { problems, readers }) as Scenario;
  const all = [...problems, ...checkScenario(scenario, problems, names)];
  if (all.length === 0) return { scenario, problems: [] };
  const placed = all.map(({ path, message, isKey = false }) => ({
    ...yaml.placeOf(path, { ofKey: isKey }),
    path: writePath(path),
    message,
  }));
  return { scenario: undefined, problems: placed.toSorted((a, b) => a.line - b.line || a.column - b.column) };
}

function readTime(reading: 'duration' | 'signed duration', parse: (text: string) => number | undefined): Reader {
  return (value: unknown, path: Path, context: ReadContext) => {
    const ms = typeof value === 'string' ? parse(value) : undefined;
    return ms ?? report(context, path, `expected ${expected({ reads: reading })}, got ${got(value)}`);
  };
}
