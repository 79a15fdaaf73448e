import { type TObject, type TProperties, Type } from 'typebox';
import { faults, findFault } from '../../chaos/catalog.ts';
import type { AnyFault } from '../../chaos/fault.ts';
import { checkParameters } from '../../chaos/parameters.ts';
import { CliError } from '../../errors.ts';
import type { SchemaNode } from '../../yaml/expected.ts';
import { got, type Path, type Problem } from '../../yaml/problem.ts';
import { isObject, type ReadContext, read } from '../../yaml/read.ts';
import { closed } from '../../yaml/schema.ts';
import type { FaultProvider } from './actions.ts';

/**
 * A fault action of the file: parameters are beside `fault` and `target`; durations among them become ms. Names and
 * parameters are those of the fault catalog. Where it can be aimed at is checked later, with the platform's needs.
 */
export function readFault(value: unknown, path: Path, context: ReadContext): FaultProvider | undefined {
  if (!isObject(value)) {
    context.problems.push({ path, message: `expected an object with fault and target, got ${got(value)}` });
    return undefined;
  }
  const fault = faultNamed(value.fault, path, context.problems);
  if (fault === undefined) return undefined;
  const problems: Problem[] = [];
  const {
    type,
    fault: _,
    target,
    ...parameters
  } = read(schemaOf(fault) as SchemaNode, value, path, {
    ...context,
    problems,
  }) as Record<string, unknown>;
  context.problems.push(...problems);
  if (problems.length === 0) checkAll(fault, parameters, path, context.problems);
  return { type: type as 'fault', fault: fault.name, target: target as string, parameters };
}

/** The fault's action as its own closed object, for reading and for editors. */
export function schemaOf(fault: AnyFault): TObject {
  return closed(
    {
      type: Type.Literal('fault', { description: 'injects a fault, and proves that it is in effect' }),
      fault: Type.String({ minLength: 1, description: fault.title }),
      target: Type.String({ minLength: 1, description: `${fault.scope} it is injected into` }),
      ...((fault.parameters as TObject).properties as TProperties),
    },
    { description: `${fault.name}: ${fault.title}` },
  );
}

/** Every fault's name, as it may be written in a file. */
const faultNames: readonly string[] = faults.map(({ name }) => name);

function faultNamed(name: unknown, path: Path, problems: Problem[]): AnyFault | undefined {
  if (typeof name !== 'string') {
    const message = name === undefined ? 'fault is missing' : `expected the name of a fault, got ${got(name)}`;
    problems.push({
      path: name === undefined ? path : [...path, 'fault'],
      message: `${message}: one of ${faultNames.join(', ')}`,
    });
    return undefined;
  }
  try {
    return findFault(name);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    problems.push({ path: [...path, 'fault'], message: `${error.what}: one of ${faultNames.join(', ')}` });
    return undefined;
  }
}

/** The check of `chaos inject` itself has the last word. */
function checkAll(
  fault: AnyFault,
  parameters: Readonly<Record<string, unknown>>,
  path: Path,
  problems: Problem[],
): void {
  try {
    checkParameters(fault.parameters as TObject, parameters, fault.name);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    problems.push({ path, message: `${error.what}: ${error.why ?? ''}`.replaceAll('\n', '; ') });
  }
}
