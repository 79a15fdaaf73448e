import { expect, it } from 'vitest';
import type { AlertProbe } from '../../format/schema.ts';
import { createFakeContext, type FakePager } from '../testing/fake-context.ts';
import { probeAlert } from './alert.ts';

const look = (state: 'firing' | 'silent', pager: FakePager) => {
  const provider = { type: 'alert', name: 'OutboxStalled', state };
  return probeAlert(
    { name: 'p', type: 'probe', provider } as unknown as AlertProbe,
    createFakeContext({ pager }).context,
  );
};
const stalled = { alertname: 'OutboxStalled', severity: 'page', state: 'firing' } as const;
const watchdog = { alertname: 'Watchdog', severity: 'none', state: 'firing' } as const;
const lost = { alertname: 'TelemetryLost', severity: 'ticket', state: 'firing' } as const;

it.each([
  ['firing', 'fires', [stalled], 'pass', 'firing: OutboxStalled (page)'],
  [
    'firing',
    'fires and is silenced',
    [{ ...stalled, state: 'silenced' }],
    'pass',
    'firing: OutboxStalled (page, silenced)',
  ],
  ['firing', 'does not fire', [watchdog, lost], 'fail', 'silent; firing: TelemetryLost (ticket)'],
  ['silent', 'does not fire', [watchdog], 'pass', 'silent; firing: none'],
  ['silent', 'fires', [stalled], 'fail', 'firing: OutboxStalled (page)'],
] as const)('%s, and it %s', async (state, _, firing, verdict, observed) => {
  expect(await look(state, { firing })).toMatchObject({ verdict, expected: `OutboxStalled ${state}`, observed });
});

it.each([
  ['off', 'shopctl up --with alerts'],
  ['unknown', 'no alert of it has arrived yet'],
  ['lost', 'alerts do not arrive'],
] as const)('an alert that is not there says nothing while the pipeline is %s', async (pipeline, why) => {
  const expected = { verdict: 'unknown', observed: expect.stringContaining(why) };
  expect(await look('silent', { pipeline })).toMatchObject(expected);
  expect(await look('firing', { pipeline })).toMatchObject(expected);
});

it('an alert that fires was reported, whatever has become of the pipeline since', async () => {
  expect(await look('firing', { pipeline: 'lost', firing: [stalled] })).toMatchObject({ verdict: 'pass' });
});
