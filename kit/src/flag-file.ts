import { MemoryStorage } from '@openfeature/flagd-core';
import { isDate } from './calendar-date.ts';
import { isFlagName } from './flag-names.ts';
import { type FlagProblem, isRecord, ruleProblems } from './flag-targeting.ts';

/** One flag in flagd's format. */
export interface FlagDefinition {
  /** DISABLED: the flag is off, whatever else is here. */
  readonly state: 'ENABLED' | 'DISABLED';
  readonly variants: Readonly<Record<string, unknown>>;
  /** Of each order that no rule gives a variant. */
  readonly defaultVariant?: string | null;
  /** A rule in JsonLogic with flagd's operators; an empty one is none. */
  readonly targeting?: Readonly<Record<string, unknown>>;
  /** `owner` and `expires` (a date, `2026-12-31`) are ours. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A file of flags. What else is at its root (`$schema`, `$evaluators`, `metadata`) is kept. */
export interface FlagFile {
  readonly flags: Readonly<Record<string, FlagDefinition>>;
  readonly [key: string]: unknown;
}

/** All that is wrong with a file of flags, in one error. */
export class FlagFileError extends TypeError {
  override readonly name = 'FlagFileError';
  readonly problems: readonly FlagProblem[];

  constructor(problems: readonly FlagProblem[]) {
    super(problems.map(describe).join('; '));
    this.problems = problems;
  }
}

const describe = ({ path, message }: FlagProblem) => (path === '' ? message : `${path}: ${message}`);

/** What a flag is that no file names. */
export const offDefinition: FlagDefinition = {
  state: 'ENABLED',
  variants: { on: true, off: false },
  defaultVariant: 'off',
};

/**
 * A file in flagd's format (https://flagd.dev/schema/v0/flags.json), or in the older one, `{"<name>": true}`. Unknown names
 * pass: the file may be newer than this service. Throws SyntaxError, or FlagFileError with every mistake.
 */
export function parseFlagFile(text: string): FlagFile {
  const content: unknown = JSON.parse(text);
  if (!isRecord(content)) throw new FlagFileError([{ path: '', message: 'expected an object with "flags"' }]);
  if (!Object.hasOwn(content, 'flags')) return fromOlderFormat(content);
  const own = fileProblems(content);
  const problems = own.length > 0 ? own : schemaProblems(text);
  if (problems.length > 0) throw new FlagFileError(problems);
  return content as unknown as FlagFile;
}

function fromOlderFormat(content: Readonly<Record<string, unknown>>): FlagFile {
  const problems = Object.entries(content)
    .filter(([name, value]) => typeof value !== 'boolean' && !name.startsWith('$'))
    .map(([name]) => ({ path: name, message: 'expected true or false, or all flags inside "flags"' }));
  if (problems.length > 0) throw new FlagFileError(problems);
  const values = Object.entries(content).filter(([, value]) => typeof value === 'boolean');
  return {
    flags: Object.fromEntries(
      values.map(([name, isOn]) => [name, { ...offDefinition, defaultVariant: isOn ? 'on' : 'off' }]),
    ),
  };
}

function fileProblems({ flags, $evaluators = {} }: Readonly<Record<string, unknown>>): readonly FlagProblem[] {
  if (!isRecord(flags)) return [{ path: 'flags', message: 'expected an object' }];
  if (!isRecord($evaluators)) return [{ path: '$evaluators', message: 'expected an object' }];
  const evaluators = Object.keys($evaluators);
  const inEvaluators = Object.entries($evaluators).flatMap(([name, rule]) =>
    ruleProblems(rule, `$evaluators.${name}`, { variants: undefined, evaluators }),
  );
  const inFlags = Object.entries(flags).flatMap(([name, flag]) => flagProblems(name, flag, evaluators));
  return [...inEvaluators, ...inFlags];
}

function flagProblems(name: string, flag: unknown, evaluators: readonly string[]): readonly FlagProblem[] {
  const path = `flags.${name}`;
  if (!isRecord(flag)) return [{ path, message: 'expected an object' }];
  const { state, variants, defaultVariant = null, targeting = {}, metadata = {} } = flag;
  const names = isRecord(variants) ? Object.keys(variants) : [];
  const isVariant = defaultVariant === null || names.includes(defaultVariant as string);
  return [
    ...when(state !== 'ENABLED' && state !== 'DISABLED', `${path}.state`, 'expected "ENABLED" or "DISABLED"'),
    ...variantProblems(name, variants, `${path}.variants`),
    ...when(!isVariant, `${path}.defaultVariant`, `expected one of its variants: ${names.join(', ') || 'none'}`),
    ...(isRecord(targeting)
      ? Object.keys(targeting).length === 0
        ? []
        : ruleProblems(targeting, `${path}.targeting`, { variants: names, evaluators })
      : [{ path: `${path}.targeting`, message: 'expected an object' }]),
    ...metadataProblems(metadata, `${path}.metadata`, isFlagName(name)),
  ];
}

function variantProblems(name: string, variants: unknown, path: string): readonly FlagProblem[] {
  if (!isRecord(variants) || Object.keys(variants).length === 0) {
    return [{ path, message: 'expected an object with a value for each variant' }];
  }
  if (isFlagName(name)) {
    return Object.entries(variants).flatMap(([variant, value]) =>
      when(typeof value !== 'boolean', `${path}.${variant}`, 'expected true or false'),
    );
  }
  const types = new Set(Object.values(variants).map((value) => typeof value));
  return when(types.size > 1, path, `expected values of one type, got ${[...types].join(', ')}`);
}

function metadataProblems(metadata: unknown, path: string, isOurs: boolean): readonly FlagProblem[] {
  if (!isRecord(metadata)) return [{ path, message: 'expected an object' }];
  const values = Object.entries(metadata).flatMap(([key, value]) =>
    when(
      !['string', 'number', 'boolean'].includes(typeof value),
      `${path}.${key}`,
      'expected a text, number or boolean',
    ),
  );
  const { owner, expires } = metadata;
  return [
    ...values,
    ...when(isOurs && (typeof owner === 'number' || typeof owner === 'boolean'), `${path}.owner`, 'expected a text'),
    ...when(isOurs && expires !== undefined && !isDate(expires), `${path}.expires`, 'expected a date, YYYY-MM-DD'),
  ];
}

function when(isWrong: boolean, path: string, message: string): readonly FlagProblem[] {
  return isWrong ? [{ path, message }] : [];
}

/** What flagd's own schema finds besides: it stops at its first mistake, and names that in terms of the schema. */
function schemaProblems(text: string): readonly FlagProblem[] {
  const found: FlagProblem[] = [];
  const ignore = () => undefined;
  const warn = (message: unknown) => void found.push({ path: '', message: String(message) });
  const storage = new MemoryStorage({ debug: ignore, info: ignore, warn, error: warn }, interpreted);
  try {
    storage.setConfigurations(text, true);
  } catch (error) {
    found.push(firstOf((error as Error).message));
  }
  return found;
}

/** Rules are interpreted: a file never becomes code of this process, and it is faster (decision 0098). */
export const interpreted = { disableDynamicCodeGeneration: true } as const;

/** The message ends with the validator's errors as JSON. */
function firstOf(message: string): FlagProblem {
  const [, errors] = /^[^[]*: (\[.*\])$/s.exec(message) ?? [];
  const [first] = errors === undefined ? [] : (JSON.parse(errors) as { instancePath: string; message: string }[]);
  if (first === undefined) return { path: '', message };
  return { path: first.instancePath.slice(1).replaceAll('/', '.'), message: first.message };
}
