import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { CliError } from '../errors.ts';

const Kind = Type.Union([
  Type.Literal('server'),
  Type.Literal('client'),
  Type.Literal('internal'),
  Type.Literal('producer'),
  Type.Literal('consumer'),
]);

const Span = Type.Cyclic(
  {
    Span: Type.Object(
      {
        service: Type.String({ minLength: 1 }),
        name: Type.String({ minLength: 1 }),
        kind: Kind,
        /** `db.namespace` of an SQL span. */
        database: Type.Optional(Type.String({ minLength: 1 })),
        /** The span's status is an error; absent means that it is not. */
        error: Type.Optional(Type.Boolean()),
        /** The parameter that says how often the subtree occurs. */
        repeat: Type.Optional(Type.String({ minLength: 1 })),
        /** The span may have been lost with its process before it was exported; its children are then orphans. */
        mayBeLost: Type.Optional(Type.Boolean()),
        children: Type.Optional(Type.Array(Type.Ref('Span'))),
      },
      { additionalProperties: false },
    ),
  },
  'Span',
);

const ContractFile = Type.Object(
  {
    name: Type.String({ minLength: 1 }),
    title: Type.String({ minLength: 1 }),
    /** Default values of the parameters that `repeat` names; 0 where the subtree is an exception. */
    parameters: Type.Optional(Type.Record(Type.String(), Type.Integer({ minimum: 0, maximum: 100 }))),
    root: Span,
  },
  { additionalProperties: false },
);

export type SpanKind = Static<typeof Kind>;

/** One span of a contract file, with what hangs under it. The order of children means nothing. */
export interface ContractSpan {
  readonly service: string;
  readonly name: string;
  readonly kind: SpanKind;
  readonly database?: string;
  readonly error?: boolean;
  readonly repeat?: string;
  readonly mayBeLost?: boolean;
  readonly children?: readonly ContractSpan[];
}

/** The shape that a trace must have. */
export interface TraceContract {
  readonly name: string;
  readonly title: string;
  readonly parameters: Readonly<Record<string, number>>;
  readonly root: ContractSpan;
}

/** A span that is expected, with parameters applied: each occurrence is a separate object. */
export interface ExpectedSpan {
  readonly service: string;
  readonly name: string;
  readonly kind: SpanKind;
  readonly database: string | undefined;
  readonly error: boolean;
  readonly mayBeLost: boolean;
  readonly children: readonly ExpectedSpan[];
}

/** What a contract's file does not say because its tree does. */
export interface ContractCounts {
  readonly spans: number;
  /** Fewer than `spans` where some may be lost. */
  readonly fewestSpans: number;
  readonly sql: number;
  /** Sorted. */
  readonly services: readonly string[];
  readonly databases: readonly string[];
}

/** Reads a contract; `source` is named in errors. Throws CliError (2) that lists every problem of the file. */
export function parseContract(text: string, source: string): TraceContract {
  const file = parseJson(text, source);
  if (!Value.Check(ContractFile, file)) {
    const problems = Value.Errors(ContractFile, file).map(
      ({ instancePath, message }) => `${instancePath || '/'} ${message}`,
    );
    throw invalid(source, [...new Set(problems)].join('\n'));
  }
  const contract: TraceContract = { ...file, parameters: file.parameters ?? {}, root: file.root as ContractSpan };
  const unknown = repeatsOf(contract.root).filter((name) => !(name in contract.parameters));
  if (unknown.length > 0)
    throw invalid(source, `"repeat" names what "parameters" does not have: ${unknown.join(', ')}`);
  return contract;
}

function parseJson(text: string, source: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid(source, (error as Error).message);
  }
}

function invalid(source: string, why: string): CliError {
  return new CliError({
    code: 'invalid_contract',
    what: `${source} is not a trace contract`,
    why,
    next: 'compare it with contracts/traces/confirmed.json; docs/traces.md describes the format',
  });
}

function repeatsOf(span: ContractSpan): string[] {
  return [...(span.repeat === undefined ? [] : [span.repeat]), ...(span.children ?? []).flatMap(repeatsOf)];
}

/**
 * Loads `contracts/traces/<name>.json` of the clone, or the file at a path that ends in `.json`.
 * Throws CliError (2) when there is none, or it is not a contract.
 */
export async function loadContract(nameOrPath: string, root: string): Promise<TraceContract> {
  const isPath = nameOrPath.endsWith('.json');
  const path = isPath ? nameOrPath : join(root, 'contracts', 'traces', `${nameOrPath}.json`);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    throw new CliError({
      code: 'unknown_contract',
      what: `there is no trace contract "${nameOrPath}"`,
      why: (cause as Error).message,
      next: `name one of ${contractNames.join(', ')}, or a path that ends in .json`,
      cause,
    });
  }
  return parseContract(text, path);
}

/** The contracts of this project, each in `contracts/traces/<name>.json`. */
export const contractNames = ['confirmed', 'declined', 'replayed', 'recovered'] as const;

/** The root span of an order by version 2 of the API; everything below it is that of version 1 (docs/contracts.md). */
const VERSION_2_ROOT = 'POST /api/v2/orders/{**rest}';

/** The contract of an order whose trace has this root: a client chooses the version of the API. Pure. */
export function contractForRoot(contract: TraceContract, root: string): TraceContract {
  return root === VERSION_2_ROOT ? { ...contract, root: { ...contract.root, name: root } } : contract;
}

/** Values of a contract's parameters; those without one keep their default. */
export type ContractParameters = { readonly [name: string]: number | undefined };

/** The contract's tree with its parameters applied. Throws CliError (2) for a parameter it does not have. */
export function expectedTree(contract: TraceContract, given: ContractParameters = {}): ExpectedSpan {
  const parameters = { ...contract.parameters };
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (!(name in parameters)) {
      throw new CliError({
        code: 'invalid_contract',
        what: `the contract "${contract.name}" has no parameter "${name}"`,
        next: `it has: ${Object.keys(parameters).join(', ') || 'none'}`,
      });
    }
    parameters[name] = value;
  }
  return expand(contract.root, parameters);
}

function expand(span: ContractSpan, parameters: Readonly<Record<string, number>>): ExpectedSpan {
  const times = ({ repeat }: ContractSpan) => (repeat === undefined ? 1 : (parameters[repeat] ?? 1));
  return {
    service: span.service,
    name: span.name,
    kind: span.kind,
    database: span.database,
    error: span.error ?? false,
    mayBeLost: span.mayBeLost ?? false,
    children: (span.children ?? []).flatMap((child) =>
      Array.from({ length: times(child) }, () => expand(child, parameters)),
    ),
  };
}

/** The span and all under it, parents first. */
export function flatten(span: ExpectedSpan): ExpectedSpan[] {
  return [span, ...span.children.flatMap(flatten)];
}

export function countsOf(expected: ExpectedSpan): ContractCounts {
  const spans = flatten(expected);
  const sql = spans.filter(({ database }) => database !== undefined);
  return {
    spans: spans.length,
    fewestSpans: spans.filter(({ mayBeLost }) => !mayBeLost).length,
    sql: sql.length,
    services: [...new Set(spans.map(({ service }) => service))].sort(),
    databases: [...new Set(sql.map(({ database }) => String(database)))].sort(),
  };
}
