import { type Command, InvalidArgumentError, Option } from 'commander';
import type { TObject } from 'typebox';
import { faults } from '../../chaos/catalog.ts';
import type { AnyFault } from '../../chaos/fault.ts';
import type { ParameterSchema } from '../../chaos/parameters.ts';
import { signedDurationMs } from '../../shared/duration.ts';
import { parseCount, parseDuration } from '../option-values.ts';

/** A parameter of one fault. */
interface Use {
  readonly fault: string;
  readonly name: string;
  readonly schema: ParameterSchema;
}

/**
 * Adds the parameters of every fault to `chaos inject`. Not part of the command's definition, because the catalog of
 * faults is slow to load: code that needs the options awaits this module first.
 */
export function addFaultOptions(program: Command): void {
  const chaos = program.commands.find((command) => command.name() === 'chaos');
  const inject = chaos?.commands.find((command) => command.name() === 'inject');
  for (const option of faultOptions(faults)) inject?.addOption(option.helpGroup('Parameters of faults:'));
}

/** One option for each name of a parameter; faults whose parameters have the same name share it. */
export function faultOptions(all: readonly AnyFault[]): readonly Option[] {
  const uses = all.flatMap(({ name: fault, parameters }) =>
    Object.entries((parameters as TObject).properties).map(
      ([name, schema]): Use => ({ fault, name, schema: schema as ParameterSchema }),
    ),
  );
  return [...Map.groupBy(uses, ({ name }) => name)].map(([name, sharing]) => {
    const value = placeholderOf((sharing[0] as Use).schema);
    const option = new Option(`${flagOf(name)} <${value}>`, helpOf(sharing));
    const parse = readers[value];
    return parse === undefined ? option : option.argParser(parse);
  });
}

/** `averageSize`: `--average-size`. */
export function flagOf(parameter: string): string {
  return `--${parameter.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** What stands for the value in the help: how it is written, or what it can be. */
export function placeholderOf({ unit, type, enum: values, anyOf }: ParameterSchema): string {
  if (unit !== undefined) return unit === 'ms' ? 'duration' : 'signed-duration';
  const choices = values ?? anyOf?.map((one) => one.const);
  return choices?.join('|') ?? String(type);
}

/** `slow_close: delay of the end of a connection; slicer: pause between pieces`. */
function helpOf(sharing: readonly Use[]): string {
  return [...Map.groupBy(sharing, ({ schema }) => schema.description)]
    .map(([description, own]) => `${own.map(({ fault }) => fault).join(', ')}: ${description}`)
    .join('; ');
}

/** How a value is read; any other is text. Whether the fault takes it is checked by the fault's own schema. */
const readers: Readonly<Record<string, (text: string) => number>> = {
  duration: parseDuration,
  'signed-duration': parseSignedDuration,
  integer: parseCount,
  number: parseNumber,
};

/** `30s`, `-1h`, in ms. */
function parseSignedDuration(text: string): number {
  const ms = signedDurationMs(text);
  if (ms === undefined) throw new InvalidArgumentError('expected a duration with its unit, like 30s or -1h');
  return ms;
}

function parseNumber(text: string): number {
  const number = Number(text);
  if (text === '' || !Number.isFinite(number)) throw new InvalidArgumentError('expected a number');
  return number;
}
