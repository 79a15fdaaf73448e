import type { RunClock } from '../../shared/clock.ts';
import type { PlaceResponse } from '../../shop/gateway-client.ts';

/** At 90 % that are shed, one in seventy rounds has none of these admitted. */
const TRIES = 40;
const EVERY_MS = 250;

/** Places an order again while an operator sheds it: one that was refused by chance says nothing about those that are served. */
export async function placeAdmitted(
  place: () => Promise<PlaceResponse>,
  clock: Pick<RunClock, 'sleep'>,
): Promise<PlaceResponse> {
  for (let tries = 1; ; tries++) {
    const response = await place();
    const isShed = response.kind === 'problem' && response.problem.code === 'order_shed';
    if (!isShed || tries === TRIES) return response;
    await clock.sleep(EVERY_MS, new AbortController().signal);
  }
}
