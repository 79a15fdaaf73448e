import { expect, it } from 'vitest';
import type { Scenario } from '../format/schema.ts';
import { unread } from './surfaces.ts';

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
