import { describe, expect, it } from 'vitest';
import { cloneRoot } from '../platform/project.ts';
import { serviceNames } from '../topology/services.ts';
import { locateFailpoints } from './coverage-sources.ts';
import { failpointNames } from './failpoint-names.ts';

describe('the failpoints', () => {
  it.each(serviceNames)('of %s are those that its sources pass', async (service) => {
    const located = await locateFailpoints(cloneRoot(), service);
    expect([...failpointNames[service]].sort()).toEqual([...located.keys()].sort());
  });

  it('have a line each', async () => {
    const located = await locateFailpoints(cloneRoot(), 'orders');
    expect(located.get('R1')).toEqual([expect.stringMatching(/^services\/orders\/src\/relay\.ts:\d+$/)]);
    expect(located.get('S4')).toEqual([expect.stringMatching(/^services\/orders\/src\/saga\/interpreter\.ts:\d+$/)]);
  });
});
