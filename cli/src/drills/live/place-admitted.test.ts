import { expect, it, vi } from 'vitest';
import type { PlaceResponse } from '../../shop/gateway-client.ts';
import { placeAdmitted } from './place-admitted.ts';

const clock = { sleep: async () => undefined };
const shed = { kind: 'problem', problem: { code: 'order_shed' } } as PlaceResponse;
const down = { kind: 'problem', problem: { code: 'orders_unreachable' } } as PlaceResponse;
const decided = { kind: 'decided', status: 'Confirmed' } as PlaceResponse;

it('places an order again until it is not shed', async () => {
  const place = vi.fn(async () => decided);
  place.mockResolvedValueOnce(shed).mockResolvedValueOnce(shed);
  expect(await placeAdmitted(place, clock)).toBe(decided);
  expect(place).toHaveBeenCalledTimes(3);
});

it('takes any other failure, and gives up where every order is shed', async () => {
  expect(await placeAdmitted(async () => down, clock)).toBe(down);
  expect(await placeAdmitted(async () => shed, clock)).toBe(shed);
});
