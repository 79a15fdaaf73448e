import { expect, it } from 'vitest';
import type { FaultSession } from '../../../chaos/fault-session.ts';
import { revert } from './revert.ts';

function aSession(more: Partial<Pick<FaultSession, 'expiredTtl' | 'revert'>>): FaultSession {
  return {
    expiredTtl: () => undefined,
    revert: async () => ({ reverted: [], notReverted: [] }),
    ...more,
  } as unknown as FaultSession;
}

it('is unknown when the time to live of the fault expired before its step was reverted', async () => {
  const faults = aSession({ expiredTtl: () => 'latency had ended, because its time to live expired' });
  expect(await revert({ type: 'revert', of: 'slow' }, { faults })).toMatchObject({
    verdict: 'unknown',
    observed: expect.stringContaining('its time to live expired'),
  });
});

it('fails when a fault was not reverted', async () => {
  const faults = aSession({ revert: async () => ({ reverted: [], notReverted: ['latency on orders-payments'] }) });
  expect(await revert({ type: 'revert', of: 'slow' }, { faults })).toMatchObject({
    verdict: 'fail',
    observed: 'left: latency on orders-payments',
  });
});
