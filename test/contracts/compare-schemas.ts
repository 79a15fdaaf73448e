/** A JSON Schema as our documents have it: no `$ref`, no combination but `anyOf`. */
export type Schema = Readonly<Record<string, unknown>>;

/**
 * `request`: whatever the old schema took, the new one must take. `response`: whatever the new schema sends, a reader
 * of the old one must be able to read; such readers ignore fields they do not know.
 */
export type Direction = 'request' | 'response';

/** `wide` must take everything that `narrow` takes; `old` and `next` are the same two by age. */
interface Pair {
  readonly wide: Schema;
  readonly narrow: Schema;
  readonly direction: Direction;
  readonly at: string;
}

/**
 * What breaks a client between two versions of a schema, one sentence each; empty when nothing does. Throws on a keyword
 * it does not know, since silence would be a pass. Rules: docs/contracts.md, "What may change".
 */
export function breaksOfSchema(old: Schema, next: Schema, direction: Direction, at = ''): readonly string[] {
  for (const schema of [old, next]) refuseUnknown(schema, at);
  const pair = direction === 'request' ? { wide: next, narrow: old } : { wide: old, narrow: next };
  return compare({ ...pair, direction, at });
}

/** Keywords that say nothing about which values are taken. */
const ANNOTATIONS = new Set(['$schema', '$id', 'title', 'description', 'default', 'examples', 'deprecated']);
const CHECKED = new Set([
  'type',
  'enum',
  'const',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'anyOf',
  'pattern',
  'format',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
]);

function refuseUnknown(schema: Schema, at: string): void {
  const unknown = Object.keys(schema).find((key) => !ANNOTATIONS.has(key) && !CHECKED.has(key));
  if (unknown !== undefined) throw new Error(`${at || '/'}: the comparer does not know the keyword "${unknown}"`);
}

function compare(pair: Pair): readonly string[] {
  const options = optionsOf(pair.narrow);
  if (options !== undefined || optionsOf(pair.wide) !== undefined) return compareOptions(pair);
  return [
    ...compareTypes(pair),
    ...compareValues(pair),
    ...LIMITS.flatMap((limit) => compareLimit(pair, limit)),
    ...compareText(pair, 'pattern'),
    ...compareText(pair, 'format'),
    ...compareFields(pair),
    ...compareItems(pair),
  ];
}

function optionsOf({ anyOf }: Schema): readonly Schema[] | undefined {
  return anyOf as readonly Schema[] | undefined;
}

/** Each option of the narrow one must fit into an option of the wide one. */
function compareOptions({ wide, narrow, direction, at }: Pair): readonly string[] {
  const into = optionsOf(wide) ?? [wide];
  const fits = (option: Schema) =>
    into.some((one) => {
      refuseUnknown(one, at);
      return compare({ wide: one, narrow: option, direction, at }).length === 0;
    });
  const lost = (optionsOf(narrow) ?? [narrow]).filter((option) => !fits(option));
  return lost.map((option) => `${at}: ${side(direction)} ${JSON.stringify(option)}`);
}

function compareTypes({ wide, narrow, direction, at }: Pair): readonly string[] {
  const [taken, given] = [typesOf(wide), typesOf(narrow)];
  if (taken === undefined) return [];
  if (given === undefined) return [`${at}: ${side(direction)} any type, and was ${[...taken].join(' or ')} only`];
  const lost = [...given].filter((type) => !taken.has(type) && !(type === 'integer' && taken.has('number')));
  return lost.map((type) => `${at}: ${side(direction)} the type ${type}`);
}

function typesOf({ type }: Schema): ReadonlySet<string> | undefined {
  if (type === undefined) return undefined;
  return new Set(Array.isArray(type) ? (type as string[]) : [type as string]);
}

function compareValues({ wide, narrow, direction, at }: Pair): readonly string[] {
  const [taken, given] = [valuesOf(wide), valuesOf(narrow)];
  if (taken === undefined) return [];
  if (given === undefined) return [`${at}: ${side(direction)} other values than ${taken.join(', ')}`];
  return given.filter((value) => !taken.includes(value)).map((value) => `${at}: ${side(direction)} ${value}`);
}

function valuesOf(schema: Schema): readonly string[] | undefined {
  const values = 'const' in schema ? [schema.const] : (schema.enum as unknown[] | undefined);
  return values?.map((value) => JSON.stringify(value));
}

/** A lower limit is wider when it is smaller, an upper one when it is larger; absent is widest. */
const LIMITS = [
  ['minimum', -1],
  ['maximum', 1],
  ['minLength', -1],
  ['maxLength', 1],
  ['minItems', -1],
  ['maxItems', 1],
] as const;

function compareLimit({ wide, narrow, direction, at }: Pair, [keyword, sign]: (typeof LIMITS)[number]) {
  const [taken, given] = [wide[keyword], narrow[keyword]] as (number | undefined)[];
  if (taken === undefined) return [];
  const isInside = given !== undefined && sign * (taken - given) >= 0;
  return isInside ? [] : [`${at}: ${side(direction)} values past ${keyword} ${taken} (${given ?? 'no limit'})`];
}

/** Two patterns cannot be compared: any other one may refuse what the first one takes. */
function compareText({ wide, narrow, direction, at }: Pair, keyword: 'pattern' | 'format'): readonly string[] {
  if (wide[keyword] === undefined || wide[keyword] === narrow[keyword]) return [];
  return [`${at}: ${side(direction)} values of another ${keyword} than ${wide[keyword]}`];
}

function compareFields(pair: Pair): readonly string[] {
  const { wide, narrow, direction, at } = pair;
  const [old, next] = direction === 'request' ? [narrow, wide] : [wide, narrow];
  const [oldFields, nextFields] = [fieldsOf(old), fieldsOf(next)];
  const removed = Object.keys(oldFields).filter((name) => !(name in nextFields));
  const needed = requiredOf(wide).filter((name) => !requiredOf(narrow).includes(name) && !removed.includes(name));
  const kept = Object.keys(oldFields).filter((name) => name in nextFields);
  return [
    ...removed.map((name) => `${at}/${name}: the field was removed`),
    ...needed.map((name) => `${at}/${name}: ${NEEDED[direction]}`),
    ...closing(pair),
    ...kept.flatMap((name) =>
      breaksOfSchema(oldFields[name] as Schema, nextFields[name] as Schema, direction, `${at}/${name}`),
    ),
  ];
}

const NEEDED: Readonly<Record<Direction, string>> = {
  request: 'the field is required now',
  response: 'the field may be missing now',
};

/**
 * Readers ignore what they do not know; a server that begins to refuse unknown fields breaks clients that send some.
 */
function closing({ wide, narrow, direction, at }: Pair): readonly string[] {
  const isClosed = direction === 'request' && wide.additionalProperties === false;
  return isClosed && narrow.additionalProperties !== false ? [`${at}: unknown fields are refused now`] : [];
}

function fieldsOf({ properties }: Schema): Readonly<Record<string, unknown>> {
  return (properties ?? {}) as Readonly<Record<string, unknown>>;
}

function requiredOf({ required }: Schema): readonly string[] {
  return (required ?? []) as readonly string[];
}

function compareItems({ wide, narrow, direction, at }: Pair): readonly string[] {
  const [old, next] = direction === 'request' ? [narrow, wide] : [wide, narrow];
  if (old.items === undefined && next.items === undefined) return [];
  return breaksOfSchema((old.items ?? {}) as Schema, (next.items ?? {}) as Schema, direction, `${at}/*`);
}

function side(direction: Direction): string {
  return direction === 'request' ? 'no longer takes' : 'may now send';
}
