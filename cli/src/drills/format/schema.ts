import { flagNames } from '@shop/kit/flag-names.ts';
import { type Static, Type } from 'typebox';
import { changeKinds } from '../../platform/change-log.ts';
import type { Reading } from '../../yaml/expected.ts';
import { closed, defaulted, oneOf } from '../../yaml/schema.ts';
import { mechanisms, scopes } from './vocabulary.ts';

export const SCENARIO_VERSION = 'shop.drill/v1';

/** Decoys are part of a drill from this level on. */
export const DECOYS_FROM_LEVEL = 3;
export const HIGHEST_LEVEL = 5;

const text = (description: string) => Type.String({ minLength: 1, description });
const duration = (description: string, options: { readonly default?: string } = {}) =>
  Type.Unsafe<number>(Type.String({ minLength: 1, description, ...options, reads: 'duration' satisfies Reading }));

/** A fault as `readFault` returns it. */
export interface FaultInjection {
  readonly type: 'fault';
  readonly fault: string;
  readonly target: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

const FaultInjectionText = Type.Unsafe<FaultInjection>(
  closed(
    { type: Type.Literal('fault', { description: 'a fault of "shopctl chaos faults"' }) },
    { description: 'a fault with its target and parameters', reads: 'fault' satisfies Reading },
  ),
);

const ReleaseInjection = closed(
  {
    type: Type.Literal('release', { description: 'another build of a service is deployed' }),
    service: text('the service'),
    bug: Type.String({ pattern: '^[a-z][a-z0-9-]+$', description: 'what the build does wrong' }),
  },
  { description: 'a release' },
);

const LoadInjection = closed(
  {
    type: Type.Literal('load', { description: 'customers place more orders' }),
    factor: Type.Integer({ minimum: 2, maximum: 20, description: 'times the usual rate' }),
    rises: defaulted(Type.Boolean({ default: false, description: 'from this factor on, until customers notice it' })),
    repeats: defaulted(Type.Boolean({ default: false, description: 'a client repeats an order that failed' })),
  },
  { description: 'load' },
);

const MessageInjection = closed(
  {
    type: Type.Literal('message', { description: 'events that shipping cannot read are published' }),
    count: Type.Integer({ minimum: 1, maximum: 20, description: 'how many' }),
  },
  { description: 'malformed events' },
);

const FlagInjection = closed(
  {
    type: Type.Literal('flag', { description: 'a feature flag is switched on' }),
    flag: oneOf(flagNames, 'the flag'),
    percent: Type.Integer({ minimum: 1, maximum: 100, description: 'for this share of the orders' }),
  },
  { description: 'a flag' },
);

/** What is done to the platform. */
const Injection = Type.Union([FaultInjectionText, ReleaseInjection, FlagInjection, LoadInjection, MessageInjection], {
  description: 'an injection: type fault, release, flag, load or message',
});

const component = text('a component of the vocabulary: stock, replica:orders-2, network:orders-stock');
const mechanism = oneOf(mechanisms, 'a mechanism of the vocabulary');

const Truth = closed(
  {
    component,
    mechanism,
    scope: oneOf(scopes, 'who is affected'),
    accept: defaulted(
      Type.Array(
        closed({
          component,
          mechanism,
          points: Type.Number({ minimum: 0.1, maximum: 1, description: 'share of the points' }),
        }),
        { default: [], description: 'other diagnoses that are right, or partly' },
      ),
    ),
  },
  { description: 'what a diagnosis has to name' },
);

const within = defaulted(duration('how long after the injection, at most', { default: '30s' }));

/** By what customers, or a metric, show that something is wrong. */
const Symptom = Type.Union(
  [
    closed({ of: Type.Literal('failures', { description: 'orders fail' }), within }),
    closed({ of: Type.Literal('latency', { description: 'orders are slow' }), within }),
    closed({ of: Type.Literal('shipments', { description: 'shipments are late or missing' }), within }),
    closed({
      of: Type.Literal('metric', { description: 'customers notice nothing' }),
      query: text('PromQL; one number'),
      above: Type.Number({ description: 'the symptom is there while it is above this' }),
      within,
    }),
    closed({ of: Type.Literal('none', { description: 'there is none' }) }),
  ],
  { description: 'a symptom: of failures, latency, shipments, metric or none' },
);

/** A line of the change log, by which an action of an operator is recognized. */
const Action = closed(
  {
    change: oneOf(changeKinds, 'kind of change, as in "shopctl changes"'),
    target: Type.Optional(text('what is changed; a service has its replicas as well. Left out: any')),
    to: Type.Optional(text('what it becomes. Left out: anything')),
  },
  { description: 'an action' },
);

const Decoy = closed(
  {
    at: Type.String({
      pattern: '^(injection|page|ack)\\+\\d+(ms|s|m)$',
      description: 'after the injection, the first page or its acknowledgement: ack+10s',
    }),
    do: oneOf(['restart', 'flag'], 'restart a service, or switch a flag on'),
    target: text('a service, or a flag'),
  },
  { description: 'something harmless that happens, and is listed as a change' },
);

const clueStages = ['detect', 'locate', 'characterise'] as const;
const clueSources = ['pages', 'status', 'changes', 'logs', 'traces', 'metrics', 'orders', 'ops'] as const;

const Clue = closed(
  {
    stage: oneOf(clueStages, 'what it helps with'),
    where: oneOf(clueSources, 'where it can be seen'),
    look: text('what to look at, and what is to be seen'),
  },
  { description: 'where the truth can be seen' },
);

/** A file of `drills/`. */
export const ScenarioFile = closed(
  {
    version: Type.Literal(SCENARIO_VERSION),
    id: Type.String({
      pattern: '^d\\d{3}$',
      description: 'the level and a number: d203. It does not say what happens',
    }),
    level: Type.Integer({ minimum: 0, maximum: HIGHEST_LEVEL, description: '0: drawn at every level' }),
    lite: defaulted(Type.Boolean({ default: false, description: 'part of the small set' })),
    inject: Type.Array(Injection, { maxItems: 3, description: 'what is done to the platform' }),
    lasts: Type.Optional(duration('what was injected ends after this time. Left out: with the drill')),
    needs: defaulted(
      closed(
        {
          replicas: defaulted(
            Type.Record(Type.String({ pattern: '^[a-z]+$' }), Type.Integer({ minimum: 2, maximum: 9 }), {
              default: {},
              description: 'replicas by service',
            }),
          ),
          deploy: defaulted(Type.Boolean({ default: false, description: 'a deploy and its rollback' })),
        },
        { default: {}, description: 'what the platform must have' },
      ),
    ),
    quiet: defaulted(
      closed(
        {
          from: duration('shortest time before the injection'),
          to: duration('longest time before the injection'),
        },
        { default: { from: '20s', to: '90s' }, description: 'nothing happens before the injection' },
      ),
    ),
    truths: Type.Array(Truth, { minItems: 1, maxItems: 2, description: 'one for each independent failure' }),
    symptom: Symptom,
    pages: Type.Array(text('name of an alert'), {
      uniqueItems: true,
      description: 'alerts of which at least one fires; none: no alert may fire',
    }),
    may: defaulted(
      Type.Array(text('name of an alert'), {
        default: [],
        uniqueItems: true,
        description: 'alerts that may fire, and may not, where none is stated',
      }),
    ),
    levers: Type.Array(Action, { description: 'actions that cure it' }),
    harmless: defaulted(
      Type.Array(Action, { default: [], description: 'actions that do not cure it, and cost no points' }),
    ),
    restart: oneOf(['cures', 'partly', 'useless'], 'what a restart of every service does'),
    decoys: defaulted(Type.Array(Decoy, { default: [], maxItems: 4, description: 'what distracts' })),
    clues: Type.Array(Clue, { description: 'where the truth can be seen' }),
    hints: closed(
      {
        detect: text('the first hint'),
        locate: text('the second hint'),
        mitigate: text('the third hint'),
      },
      { description: 'hints by stage' },
    ),
    reference: Type.Array(text('wait page, wait page NAME, wait symptom, wait 10s, or a command of shopctl'), {
      minItems: 1,
      description: 'a solution, line by line',
    }),
  },
  { description: 'a scenario' },
);

/** A scenario as it was read: durations in ms. */
export type Scenario = Static<typeof ScenarioFile>;
export type ScenarioTruth = Static<typeof Truth>;
export type ScenarioAction = Static<typeof Action>;

/** Whether nothing is wrong in its rounds. */
export function isWithoutFailure({ truths }: Pick<Scenario, 'truths'>): boolean {
  return truths.every(({ component }) => component === 'none');
}
