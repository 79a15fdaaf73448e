import type { TObject } from 'typebox';
import { faults, targetsOf } from '../../chaos/catalog.ts';
import type { AnyFault } from '../../chaos/fault.ts';
import { EventCondition } from './events.ts';
import { readingOf, type SchemaNode } from './expected.ts';
import { schemaOf } from './faults.ts';
import { isObject } from './read.ts';
import { Experiment, Probe } from './schema.ts';
import { CountTolerance, DurationComparison, ValueTolerance } from './tolerances.ts';

/** A value of the configuration, anywhere a value can stand. */
const REFERENCE = { type: 'string', pattern: '\\$\\{[^}]+\\}', description: 'a value of the configuration' } as const;

/** What occurs more than once, by its name under `definitions`. */
const shared: ReadonlyMap<string, string> = new Map(
  [
    ...(Probe.anyOf as readonly SchemaNode[]).map((probe) => [`probe-${typeOf(probe)}`, probe] as const),
    ['event', EventCondition as SchemaNode] as const,
    ['value', ValueTolerance as SchemaNode] as const,
    ['count', CountTolerance as SchemaNode] as const,
    ['durations', DurationComparison as SchemaNode] as const,
  ].map(([name, schema]) => [JSON.stringify(schema), name]),
);

function typeOf({ properties }: SchemaNode): unknown {
  const provider = properties?.provider;
  return (provider?.anyOf?.[0] ?? provider)?.properties?.type?.const;
}

/**
 * The JSON Schema (draft 7, which editors know best): `chaos/schema.json`, as text. It says what can be written; what steps refer to
 * and whether checks mean something only `shopctl chaos validate` tells.
 */
export function publishedSchema(): string {
  const published = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'shop.chaos/v1',
    ...(publish(Experiment as SchemaNode) as object),
    definitions: Object.fromEntries(
      [...shared].map(([text, name]) => [name, publishInFull(JSON.parse(text) as SchemaNode)]),
    ),
  };
  return `${JSON.stringify(published, null, 2)}\n`;
}

function publish(schema: SchemaNode): unknown {
  const name = shared.get(JSON.stringify(schema));
  return name === undefined ? publishInFull(schema) : { $ref: `#/definitions/${name}` };
}

function publishInFull(schema: SchemaNode): unknown {
  if (schema.reads === 'fault') return { anyOf: faults.map((fault) => publishFault(fault)) };
  if (readingOf(schema) !== undefined) return publishText(schema);
  if (schema.type === 'integer' || schema.type === 'number' || schema.type === 'boolean' || schema.enum) {
    const { description, default: byDefault, ...form } = schema;
    return {
      ...(description !== undefined && { description }),
      ...(byDefault !== undefined && { default: byDefault }),
      anyOf: [form, REFERENCE],
    };
  }
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, publishPart(key, value)]));
}

/** What stands behind a keyword: schemas, or data that stays as it is. */
function publishPart(keyword: string, value: unknown): unknown {
  if (keyword === 'anyOf') return (value as SchemaNode[]).map(publish);
  if (keyword === 'items')
    return Array.isArray(value) ? value.map((item) => publish(item as SchemaNode)) : publish(value as SchemaNode);
  if (keyword === 'properties' || keyword === 'patternProperties') {
    const named = Object.entries(value as Record<string, SchemaNode>);
    return Object.fromEntries(named.map(([key, schema]) => [key, withAll(key, schema)]));
  }
  return value;
}

/** `audit: all` is turned into rules before the schema reads it. */
function withAll(key: string, schema: SchemaNode): unknown {
  const published = publish(schema);
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
