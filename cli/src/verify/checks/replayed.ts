import { messageOf } from '../../errors.ts';
import type { Check } from '../check.ts';
import { CheckFailed, EvidenceMissing, expectThat } from '../check-errors.ts';
import { type Attempt, decided, describeResponse } from '../context.ts';

/** The same Idempotency-Key gives the same order; with another body it is refused. */
export const replayed: Check = {
  id: 'replayed',
  name: 'a repeated Idempotency-Key gives the same order',
  async run(context) {
    const first = await context.confirmed.response().catch((error: unknown) => {
      throw new EvidenceMissing(`there is no order to repeat (see "confirmed"): ${messageOf(error)}`);
    });
    if (first.kind !== 'decided') throw new EvidenceMissing(`there is no order to repeat: ${describeResponse(first)}`);
    const expected = `${describeResponse(first)}, order ${first.id}`;
    const again = await decided(context.replayed, expected);
    const observed = `${describeResponse(again)}, order ${again.id}`;
    expectThat(observed === expected, { expected, observed });
    await expectRefusal(context.misused);
    return `same order ${first.id}; another body with the key: 422 idempotency_key_reused`;
  },
};

async function expectRefusal({ response }: Attempt): Promise<void> {
  const expected = '422 idempotency_key_reused for another body';
  const refusal = await response().catch((error: unknown) => {
    throw new CheckFailed({ expected, observed: messageOf(error) });
  });
  const isRefused =
    refusal.kind === 'problem' && refusal.problem.status === 422 && refusal.problem.code === 'idempotency_key_reused';
  expectThat(isRefused, { expected, observed: describeResponse(refusal) });
}
