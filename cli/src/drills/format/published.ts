import { faults, targetsOf } from '../../chaos/catalog.ts';
import type { AnyFault } from '../../chaos/fault.ts';
import { schemaOf } from '../../experiments/format/faults.ts';
import { readingOf, type SchemaNode } from '../../yaml/expected.ts';
import { compactJson, type JsonSchema, mapSubschemas, shareDefinitions } from '../../yaml/share.ts';
import { SCENARIO_VERSION, ScenarioFile } from './schema.ts';

/** The JSON Schema for editors: `drills/schema.json`, as text. What goes together is checked by the reader only. */
export function publishedSchema(): string {
  const schema = publish(ScenarioFile as SchemaNode) as JsonSchema;
  const head = { $schema: 'http://json-schema.org/draft-07/schema#', title: SCENARIO_VERSION };
  return `${compactJson({ ...head, ...shareDefinitions(schema, new Map()) })}\n`;
}

function publish(schema: SchemaNode): unknown {
  if (schema.reads === 'fault') return { anyOf: faults.map((fault) => publishFault(fault)) };
  if (readingOf(schema) !== undefined) {
    const { description, default: byDefault } = schema;
    return { type: 'string', minLength: 1, description, ...(byDefault !== undefined && { default: byDefault }) };
  }
  return mapSubschemas(schema as JsonSchema, (one) => publish(one as SchemaNode));
}

/** One fault with its parameters and its targets; replicas depend on the platform. */
function publishFault(fault: AnyFault): unknown {
  const { properties, ...rest } = publish(schemaOf(fault) as SchemaNode) as {
    properties: Record<string, { readonly description?: string }>;
  };
  const { description } = properties.target ?? {};
  const target = { description, anyOf: [{ enum: targetsOf(fault.scope) }, { type: 'string', pattern: '-[1-9]$' }] };
  const name = { description: properties.fault?.description, const: fault.name };
  return { ...rest, properties: { ...properties, fault: name, target } };
}
