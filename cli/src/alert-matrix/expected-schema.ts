import { type Static, Type } from 'typebox';
import { closed, defaulted } from '../yaml/schema.ts';
import { compactJson } from '../yaml/share.ts';

const text = (description: string) => Type.String({ minLength: 1, description });
const names = (description: string) => Type.Array(text('a name'), { uniqueItems: true, description });
const alerts = (description: string) =>
  defaulted(Type.Array(text('name of an alert'), { default: [], uniqueItems: true, description }));

const Pairs = closed(
  {
    faults: names('faults, as "shopctl chaos faults" lists them'),
    targets: names('what they are aimed at'),
    variant: Type.Optional(text('of a fault with other parameters than its default')),
  },
  { description: 'each of the faults on each of the targets' },
);

const Group = closed(
  {
    name: text('one line'),
    why: text('what customers notice, and by which alert an operator knows'),
    pairs: Type.Array(Pairs, {
      minItems: 1,
      description: 'which pairs of a fault and a target; each pair is in one group',
    }),
    must: alerts('alerts that have to fire'),
    may: alerts('alerts that may fire, and belong to it if they do'),
    'must-not': alerts('alerts that are wrong here; pages that are in no list are, too'),
  },
  { description: 'pairs with the same alerts' },
);

/** `dashboards/expected.yaml`: which alerts belong to which faults. */
export const ExpectedFile = closed(
  {
    version: Type.Literal('shop.alerts/v1', { description: 'version of the format' }),
    groups: Type.Array(Group, { minItems: 1, description: 'groups of pairs' }),
  },
  { description: 'Which alerts belong to which faults (docs/alerts.md)' },
);

export type ExpectedDocument = Static<typeof ExpectedFile>;

/** The JSON Schema for editors: `dashboards/expected.schema.json`, as text. */
export function publishedExpectedSchema(): string {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Alerts by faults, as shopctl reads them',
  };
  return `${compactJson({ ...schema, ...JSON.parse(JSON.stringify(ExpectedFile)) })}\n`;
}
