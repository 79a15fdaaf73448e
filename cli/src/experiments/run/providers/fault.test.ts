import { describe, expect, it } from 'vitest';
import type { Lease } from '../../../chaos/lease.ts';
import type { FaultStep } from '../../format/schema.ts';
import type { RunContext } from '../run-context.ts';
import { checkPending } from './fault.ts';

type Verdict = NonNullable<Lease['witness']>['verdict'];

function leaseWith(verdict: Verdict): Lease {
  return { id: 'a1', witness: { verdict, evidence: verdict } } as unknown as Lease;
}

/** The end of a method whose fault had this verdict when it was asked for last, and has another one now. */
async function endOf({ last, now, isWitnessed = false }: { last: Verdict; now: Verdict; isWitnessed?: boolean }) {
  const witnessed: string[] = [];
  const records: unknown[] = [];
  const result = await checkPending({ name: 'kill' } as FaultStep, {
    faults: {
      leaseOf: () => leaseWith(last),
      refresh: async () => leaseWith(now),
      witnessed: (step) => void witnessed.push(step),
      isWitnessed: () => isWitnessed,
    },
    journal: { write: (record: unknown) => void records.push(record) } as unknown as RunContext['journal'],
  });
  return { verdict: result?.verdict, witnessed, records };
}

describe('at the end of a method a fault that waited for its hit', () => {
  it('is in effect when it has acted since', async () => {
    expect(await endOf({ last: 'pending', now: 'observed' })).toMatchObject({ verdict: 'pass', witnessed: ['kill'] });
  });

  it('is in effect when it had acted before the method reverted it', async () => {
    expect(await endOf({ last: 'observed', now: 'observed' })).toMatchObject({
      verdict: 'pass',
      witnessed: ['kill'],
      records: [{ type: 'witness', step: 'kill', verdict: 'observed' }],
    });
  });

  it('is unknown when it has not acted', async () => {
    expect(await endOf({ last: 'pending', now: 'pending' })).toMatchObject({ verdict: 'unknown', witnessed: [] });
  });

  it('is not observed again when it was witnessed before', async () => {
    const end = await endOf({ last: 'observed', now: 'observed', isWitnessed: true });
    expect(end).toEqual({ verdict: undefined, witnessed: [], records: [] });
  });
});
