import { expect, it } from 'vitest';
import type { Scenario } from '../format/schema.ts';
import { sinceStartOf, unread } from './surfaces.ts';

const faultOf = (fault: string, target: string): Pick<Scenario, 'inject'> => ({
  inject: [{ type: 'fault', fault, target, parameters: {} }],
});
const texts = [
  { surface: 'GET /metrics', text: 'not read: other side closed' },
  { surface: 'GET /v1/state', text: '{}' },
  { surface: 'shopctl status', text: 'not read: it has no end' },
];

it('a surface that could not be read is named with its reason', () => {
  expect(unread(texts, faultOf('down', 'orders-broker'))).toEqual([
    'GET /metrics: not read: other side closed',
    'shopctl status: not read: it has no end',
  ]);
});

it('telemetry that the scenario disconnects is left out, other surfaces are not', () => {
  expect(unread(texts, faultOf('telemetry-outage', 'telemetry'))).toEqual(['shopctl status: not read: it has no end']);
});

it('events of earlier rounds, which are revealed, are left out', () => {
  const before = {
    type: 'drill.ended',
    message: 'the drill 20260101-110000 is over (void): what should be injected was not',
  };
  const started = { type: 'drill.started', message: 'a drill is on: 20260101-120000, commitment 00' };
  const after = { type: 'instance.ready', message: 'stock-1 is ready' };
  expect(sinceStartOf('20260101-120000', [before, started, after])).toEqual([started, after]);
  expect(sinceStartOf('20260101-130000', [before, after])).toEqual([before, after]);
});
