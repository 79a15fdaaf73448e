import { it } from 'vitest';
import { budgetsOf } from '../../cli/src/experiments/format/budgets.ts';
import { eventSchemas } from '../../cli/src/experiments/format/events.ts';
import { writeDuration } from '../../cli/src/shared/duration.ts';
import type { SchemaNode } from '../../cli/src/yaml/expected.ts';
import { expectGeneratedBlocks } from './expect-generated.ts';

const budgets = [
  '| budget | value |',
  '| --- | --- |',
  ...[...budgetsOf()].map(
    ([name, { value, unit }]) => `| \`budget.${name}\` | ${unit === 'ms' ? writeDuration(value) : value} |`,
  ),
].join('\n');

const events = [
  '| event | keys | what happened |',
  '| --- | --- | --- |',
  ...eventSchemas.map((schema) => {
    const { event, 'at-least': _, ...keys } = schema.properties as unknown as Record<string, SchemaNode>;
    const names = Object.keys(keys).map(
      (key) => `\`${key}\`${schema.required.includes(key as never) ? '' : ' (optional)'}`,
    );
    return `| \`${event?.const}\` | ${names.join(', ')} | ${event?.description} |`;
  }),
].join('\n');

it('docs/experiments.md lists every budget, and every event with its keys', () =>
  expectGeneratedBlocks('docs/experiments.md', { budgets, events }));
