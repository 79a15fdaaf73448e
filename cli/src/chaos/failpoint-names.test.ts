import { FAILPOINT_NAME, failpointsOf } from '@shop/kit/failpoint-names.ts';
import { describe, expect, it } from 'vitest';
import { cloneRoot } from '../platform/project.ts';
import { serviceNames } from '../topology/services.ts';
import { locateFailpoints } from './coverage-sources.ts';

describe('the failpoints', () => {
  it.each(serviceNames)('of %s are those that its sources pass', async (service) => {
    const located = await locateFailpoints(cloneRoot(), service);
    expect([...failpointsOf(service).keys()].sort()).toEqual([...located.keys()].sort());
  });

  it.each(serviceNames)('of %s are named <what has happened>:<how far that has come>', (service) => {
    for (const name of failpointsOf(service).keys()) expect(name).toMatch(new RegExp(`^${FAILPOINT_NAME}$`));
  });

  it('of an unknown service are none', () => {
    expect([...failpointsOf('constructor').keys()]).toEqual([]);
  });

  it('have a line each', async () => {
    const located = await locateFailpoints(cloneRoot(), 'orders');
    expect(located.get('batch-claimed:unpublished')).toEqual([
      expect.stringMatching(/^services\/orders\/src\/relay\.ts:\d+$/),
    ]);
    expect(located.get('stock-reserved:unsaved')).toEqual([
      expect.stringMatching(/^services\/orders\/src\/saga\/saga\.ts:\d+$/),
    ]);
  });
});
