/**
 * How text in a file becomes a value. `duration`, `number` and `bound` (either of them) may be expressions. Kept in the
 * schema under `reads`; not part of the published one.
 */
export type Reading = 'duration' | 'signed duration' | 'number' | 'bound' | 'rate' | 'fault';

/** What a list that may hold for-each blocks repeats; kept in the schema under `repeats`. */
export type Repeated = 'steps' | 'events';

/** The parts of JSON Schema that the format's schemas are made of. */
export interface SchemaNode {
  readonly type?: 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null';
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly SchemaNode[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly items?: SchemaNode | readonly SchemaNode[];
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly pattern?: string;
  readonly minProperties?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly description?: string;
  readonly reads?: Reading;
  readonly repeats?: Repeated;
  /** Parameters of faults: `ms` is written as a duration, `signed ms` as one with a direction. */
  readonly unit?: 'ms' | 'signed ms';
}

const READINGS: Readonly<Record<Exclude<Reading, 'fault'>, string>> = {
  duration: 'a duration (200ms, 3s, 1m, or an expression like budget.order + 1s)',
  number: 'a number (or an expression of numbers)',
  'signed duration': 'a duration with a direction (30s, -1h)',
  bound: 'a number, a duration or an expression',
  rate: 'a rate (20/s, 90/m)',
};

/** How text that a schema describes is read, if it is not taken as it is. */
export function readingOf({ reads, unit }: SchemaNode): Reading | undefined {
  if (unit === 'ms') return 'duration';
  return unit === 'signed ms' ? 'signed duration' : reads;
}

/** What a schema wants, in words: `one of start, stop, restart`. */
export function expected(schema: SchemaNode): string {
  const reading = readingOf(schema);
  if (reading !== undefined && reading !== 'fault') return READINGS[reading];
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return `one of ${schema.enum.join(', ')}`;
  if (schema.anyOf) {
    // A description of a union names its forms; a list of all would be longer and say less.
    return schema.description ?? schema.anyOf.map(expected).join(' or ');
  }
  if (schema.type === 'object') return `an object${about(schema)}`;
  if (schema.type === 'array') return `a list${about(schema)}`;
  if (schema.type === 'boolean') return 'true or false';
  if (schema.type === 'string') return `a text${about(schema)}`;
  if (schema.type === 'null') return 'null';
  return `a ${schema.type === 'integer' ? 'whole ' : ''}number${rangeOf(schema)}`;
}

function about({ description }: SchemaNode): string {
  return description === undefined ? '' : ` (${description})`;
}

function rangeOf({ minimum, maximum }: SchemaNode): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return `, ${minimum} or more`;
  return maximum === undefined ? '' : `, ${maximum} or less`;
}
