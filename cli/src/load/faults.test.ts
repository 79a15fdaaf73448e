import { describe, expect, it } from 'vitest';
import { cloneRoot } from '../platform/project.ts';
import { chooseFaults } from './faults.ts';

describe('--chaos', () => {
  it('takes a fault that is written', async () => {
    expect(await chooseFaults(['orders-broker:down'], cloneRoot())).toEqual([
      { target: 'orders-broker', fault: 'down', parameters: {} },
    ]);
  });

  it('takes the faults of an experiment, and nothing else of it', async () => {
    expect(await chooseFaults(['E01'], cloneRoot())).toEqual([
      { target: 'orders-broker', fault: 'down', parameters: {} },
      { target: 'shipping-broker', fault: 'down', parameters: {} },
    ]);
  });

  it('refuses an experiment without a fault, and one that does not exist', async () => {
    await expect(chooseFaults(['E11'], cloneRoot())).rejects.toMatchObject({
      code: 'invalid_load',
      what: 'E11 has no fault that could act on a load',
    });
    await expect(chooseFaults(['E999'], cloneRoot())).rejects.toMatchObject({ code: 'unknown_experiment' });
  });
});
