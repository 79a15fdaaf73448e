/** A JSON Schema as plain data. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Takes a subschema and, of a property, its key. */
type MapSubschema = (schema: JsonSchema, key?: string) => unknown;

/** The schema with each of its direct subschemas replaced; data such as `default` stays as it is. */
export function mapSubschemas(schema: JsonSchema, map: MapSubschema): Record<string, unknown> {
  const mapped = Object.entries(schema).map(([keyword, value]) => [keyword, mapKeyword(keyword, value, map)]);
  return Object.fromEntries(mapped) as Record<string, unknown>;
}

function mapKeyword(keyword: string, value: unknown, map: MapSubschema): unknown {
  if (keyword === 'anyOf' || (keyword === 'items' && Array.isArray(value))) {
    return (value as JsonSchema[]).map((one) => map(one));
  }
  if (keyword === 'items') return map(value as JsonSchema);
  if (keyword !== 'properties' && keyword !== 'patternProperties') return value;
  const named = Object.entries(value as Record<string, JsonSchema>);
  return Object.fromEntries(named.map(([key, one]) => [key, map(one, keyword === 'properties' ? key : undefined)]));
}

interface Use {
  readonly schema: JsonSchema;
  readonly name: string;
  count: number;
}

/** Characters from which a subschema is longer than a reference to it. */
const WORTH_SHARING = 60;

/**
 * The same schema with every subschema that occurs more than once under `definitions`. Their names are those of `names`
 * (by the subschema's JSON text), else the nearest property's, with a number from the second on. Pure; the same schema always
 * has the same result.
 */
export function shareDefinitions(schema: JsonSchema, names: ReadonlyMap<string, string>): JsonSchema {
  const uses = usesIn(schema, names);
  const shared = [...uses].filter(([text, { count }]) => count > 1 && text.length >= WORTH_SHARING);
  const references = uniqueNames(shared);
  const withReferences = (one: JsonSchema): unknown => {
    const name = references.get(JSON.stringify(one));
    return name === undefined ? mapSubschemas(one, withReferences) : { $ref: `#/definitions/${name}` };
  };
  const definitions = shared
    .map(([text, use]) => [references.get(text) ?? '', mapSubschemas(use.schema, withReferences)] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { ...mapSubschemas(schema, withReferences), definitions: Object.fromEntries(definitions) };
}

/** Every distinct subschema by its text, and at how many places of distinct subschemas it occurs. */
function usesIn(schema: JsonSchema, names: ReadonlyMap<string, string>): ReadonlyMap<string, Use> {
  const uses = new Map<string, Use>();
  const visit = (one: JsonSchema, nearest: string): void => {
    const text = JSON.stringify(one);
    const known = uses.get(text);
    if (known) {
      known.count += 1;
      return;
    }
    const name = names.get(text) ?? nearest;
    uses.set(text, { schema: one, name, count: 1 });
    mapSubschemas(one, (below, key) => visit(below, key ?? name));
  };
  mapSubschemas(schema, (below, key = 'schema') => visit(below, key));
  return uses;
}

function uniqueNames(shared: readonly (readonly [text: string, use: Use])[]): ReadonlyMap<string, string> {
  const counts = new Map<string, number>();
  return new Map(
    shared.map(([text, { name }]) => {
      const number = (counts.get(name) ?? 0) + 1;
      counts.set(name, number);
      return [text, number === 1 ? name : `${name}-${number}`];
    }),
  );
}

const LINE_WIDTH = 120;

/** JSON with everything on one line that fits there. Without a newline at the end. */
export function compactJson(value: unknown, indent = ''): string {
  const line = JSON.stringify(value);
  if (indent.length + line.length <= LINE_WIDTH || typeof value !== 'object' || value === null) return line;
  const below = `${indent}  `;
  if (Array.isArray(value)) return `[\n${value.map((one) => below + compactJson(one, below)).join(',\n')}\n${indent}]`;
  const entries = Object.entries(value).map(
    ([key, one]) => `${below}${JSON.stringify(key)}: ${compactJson(one, below)}`,
  );
  return `{\n${entries.join(',\n')}\n${indent}}`;
}
