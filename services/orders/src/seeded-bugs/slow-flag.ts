import { setTimeout as delay } from 'node:timers/promises';
import type { Flags } from '@shop/kit/flags.ts';

const SLOWER_MS = 1_500;

/** Seeded bug `slow-flag`: an order for which the flag is on waits before it is confirmed. */
export function slowWhileOn(flags: Pick<Flags, 'isOn'>): Pick<Flags, 'isOn'> {
  return {
    async isOn(name, orderId) {
      const isOn = await flags.isOn(name, orderId);
      if (isOn && name === 'publish-order-confirmed-v2') await delay(SLOWER_MS);
      return isOn;
    },
  };
}
