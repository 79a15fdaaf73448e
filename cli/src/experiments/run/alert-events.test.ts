import { expect, it } from 'vitest';
import { countFired } from './alert-events.ts';
import { createFakeContext, type FakePager } from './testing/fake-context.ts';

const START = Date.parse('2026-11-24T05:00:00.000Z');
const at = (s: number) => new Date(START + s * 1_000).toISOString();
const fired = (alertname: string, s: number, severity = 'page') =>
  ({ type: 'fired', alertname, severity, time: at(s) }) as NonNullable<FakePager['history']>[number];

const count = (pager: FakePager, { name, least = 1 }: { name?: string; least?: number } = {}) => {
  const { context } = createFakeContext({ pager, start: { time: START } });
  return countFired({ event: 'alert.fired', ...(name !== undefined && { name }), 'at-least': least }, context);
};

const history = [
  fired('OutboxStalled', -1),
  fired('OutboxStalled', 12),
  fired('TelemetryLost', 13, 'ticket'),
  fired('ProbesFailing', 14),
];

it.each([
  ['of an alert', 'OutboxStalled', 1, `OutboxStalled at ${at(12)}`],
  ['of a ticket, by its name', 'TelemetryLost', 1, `TelemetryLost at ${at(13)}`],
  ['of any page', undefined, 2, `OutboxStalled at ${at(12)}, ProbesFailing at ${at(14)}`],
  ['of one that was silent', 'SagasStuck', 0, 'the pager has none'],
])('counts since the run began: %s', async (_, name, expected, evidence) => {
  expect(await count({ history }, { ...(name && { name }) })).toEqual({ count: expected, evidence });
});

it.each([
  ['alerts are off', { pipeline: 'off' as const }, 'up --with alerts'],
  ['they do not arrive', { pipeline: 'lost' as const }, 'alerts do not arrive'],
  [
    'they did not arrive for a time',
    { history: [{ type: 'pipeline', status: 'lost', time: at(3) } as const] },
    'did not arrive for a time',
  ],
])('none is not believed where %s', async (_, pager, evidence) => {
  expect(await count(pager)).toEqual({ count: undefined, evidence: expect.stringContaining(evidence) });
});

it('as many as are asked for are enough, also where some may be missing', async () => {
  const pager = { pipeline: 'lost', history } as const;
  expect(await count(pager)).toMatchObject({ count: 2 });
  expect(await count(pager, { least: 3 })).toMatchObject({ count: undefined });
});

it('a time before the run in which alerts did not arrive is of no concern', async () => {
  const pager = { history: [{ type: 'pipeline', status: 'lost', time: at(-30) } as const] };
  expect(await count(pager)).toEqual({ count: 0, evidence: 'the pager has none' });
});
