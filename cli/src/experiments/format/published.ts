import type { TObject } from 'typebox';
import { faults, targetsOf } from '../../chaos/catalog.ts';
import type { AnyFault } from '../../chaos/fault.ts';
import { readingOf, type SchemaNode } from '../../yaml/expected.ts';
import { isObject } from '../../yaml/read.ts';
import { compactJson, type JsonSchema, mapSubschemas, shareDefinitions } from '../../yaml/share.ts';
import { EventCondition } from './events.ts';
import { schemaOf } from './faults.ts';
import { forEachBlock } from './for-each.ts';
import { Experiment, Probe, Step } from './schema.ts';
import { CountTolerance, DurationComparison, ValueTolerance } from './tolerances.ts';

/** A value of the configuration or of an item, anywhere a value is allowed. */
const REFERENCE = {
  type: 'string',
  pattern: '\\$\\{[^}]+\\}',
  description: 'a value of the configuration, or of the item of a for-each',
} as const;

/** Keys whose whole object or list an item of a for-each may hold. */
const WHOLES = new Set(['tolerance', 'each', 'counts', 'has']);

/** Names under `definitions` that say more than the nearest key. */
function definitionNames(): ReadonlyMap<string, string> {
  const named: readonly (readonly [string, SchemaNode])[] = [
    ...(Probe.anyOf as readonly SchemaNode[]).map((probe) => [`probe-${typeOf(probe)}`, probe] as const),
    ['probe', Probe as SchemaNode],
    ['step', Step as SchemaNode],
    ['event', EventCondition as SchemaNode],
    ['value', ValueTolerance as SchemaNode],
    ['count', CountTolerance as SchemaNode],
    ['durations', DurationComparison as SchemaNode],
  ];
  return new Map([
    [JSON.stringify(REFERENCE), 'reference'],
    ...named.map(([name, schema]) => [JSON.stringify(publish(schema)), name] as const),
  ]);
}

function typeOf({ properties }: SchemaNode): unknown {
  const provider = properties?.provider;
  return (provider?.anyOf?.[0] ?? provider)?.properties?.type?.const;
}

/**
 * The JSON Schema (draft 7, which editors know best): `chaos/schema.json`, as text. It says what can be written; what steps refer to
 * and whether checks mean something is reported by `shopctl chaos validate` only.
 */
export function publishedSchema(): string {
  const schema = publish(Experiment as SchemaNode) as JsonSchema;
  const published = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'shop.chaos/v1',
    ...shareDefinitions(schema, definitionNames()),
  };
  return `${compactJson(published)}\n`;
}

function publish(schema: SchemaNode): unknown {
  if (schema.reads === 'fault') return { anyOf: faults.map((fault) => publishFault(fault)) };
  if (schema.repeats !== undefined) return publishRepeated(schema);
  if (readingOf(schema) !== undefined) return publishText(schema);
  if (restrictsForm(schema)) {
    const { description, default: byDefault, ...form } = schema;
    return {
      ...(description !== undefined && { description }),
      ...(byDefault !== undefined && { default: byDefault }),
      anyOf: [form, REFERENCE],
    };
  }
  return mapSubschemas(schema as JsonSchema, (one, key) => publishAt(key, one as SchemaNode));
}

/** Whether a reference, which is a text, would be refused. */
function restrictsForm({ type, enum: words, pattern }: SchemaNode): boolean {
  const isPlain = type === 'integer' || type === 'number' || type === 'boolean';
  return isPlain || words !== undefined || pattern !== undefined;
}

/** A list whose entries may be in a for-each block. */
function publishRepeated({ repeats, items, ...list }: SchemaNode): unknown {
  const block = forEachBlock(items as TObject, repeats ?? 'steps') as SchemaNode;
  return { ...list, items: { anyOf: [publish(items as SchemaNode), publish(block)] } };
}

function publishAt(key: string | undefined, schema: SchemaNode): unknown {
  const published = publish(schema);
  if (key !== undefined && WHOLES.has(key)) return { anyOf: [published, REFERENCE] };
  // `audit: all` is turned into rules before the schema reads it.
  if (key !== 'audit' || !isObject(published)) return published;
  const { description, ...rules } = published;
  return { description, default: 'all', anyOf: [{ const: 'all' }, rules] };
}

/** Durations and expressions are text; numbers may be written as numbers where they count. */
function publishText({ reads, description, default: byDefault }: SchemaNode): unknown {
  const form =
    reads === 'number' || reads === 'bound' ? { type: ['number', 'string'] } : { type: 'string', minLength: 1 };
  return {
    ...form,
    ...(description !== undefined && { description }),
    ...(byDefault !== undefined && { default: byDefault }),
  };
}

/** One fault with its parameters and, where these do not depend on replicas, its targets. */
function publishFault(fault: AnyFault): unknown {
  const { properties, ...rest } = publish(schemaOf(fault) as TObject as SchemaNode) as {
    properties: Record<string, { description?: string }>;
  };
  return {
    ...rest,
    properties: {
      ...properties,
      fault: { description: properties.fault?.description, enum: spellings(fault.name) },
      target: {
        description: properties.target?.description,
        anyOf: [{ enum: targetsOf(fault.scope) }, { type: 'string', pattern: '-[1-9]$' }, REFERENCE],
      },
    },
  };
}

/** `slow_close` may be written `slow-close`. */
function spellings(name: string): readonly string[] {
  return [...new Set([name, name.replaceAll('_', '-')])];
}
