import { expect, it } from 'vitest';
import { CliError } from '../../../errors.ts';
import { createFakeClock } from '../../../shared/testing/fake-clock.ts';
import { OrderLog } from '../order-log.ts';
import type { RunContext } from '../run-context.ts';
import { placeOrder } from './place-order.ts';

it('a client that gave up has waited all of its time, whatever two clocks say of it', async () => {
  const clock = createFakeClock();
  const orders = new OrderLog({ write: () => undefined } as unknown as RunContext['journal'], clock, () => 'fault');
  const gateway = {
    async placeOrder() {
      clock.advance(11_999.6);
      throw new CliError({ code: 'no_response_in_time', what: 'no response' });
    },
  };
  const context = { orders, clock, signal: new AbortController().signal, platform: { gateway } };
  const order = await placeOrder({ step: 's', key: 'k', lines: [] }, 12_000, context as unknown as RunContext);
  expect(order.response).toMatchObject({ code: 'timeout', tookMs: 12_000 });
});
