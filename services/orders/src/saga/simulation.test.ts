import { describe, it } from 'vitest';
import { simulate } from '../testing/histories.ts';
import { play } from '../testing/world.ts';

/*
 * Goal: whatever goes wrong and in whatever order, when the faults are over every order has ended, and money, stock,
 * events and shipments agree with it.
 * Method: fast-check makes histories (orders, lost, late and doubled messages, outages, crashes and pauses at every
 * boundary, several instances) and the real parts of the service play them in virtual time: driver, interpreter,
 * recovery, ownership, relay, clients and their call policies. Only databases, network, stock, payments and shipping are
 * models. The last `it` of each defect lives in simulation.defects.test.ts.
 */
const runs = Number(process.env.SIMULATION_RUNS ?? 3_000);
const seed = process.env.SIMULATION_SEED === undefined ? undefined : Number(process.env.SIMULATION_SEED);

describe('the order saga under faults', () => {
  it(`balances money, stock and events after ${runs} histories`, { timeout: 60_000 + runs * 100 }, async () => {
    await simulate((history) => play(history), { runs, ...(seed === undefined ? {} : { seed }) });
  });
});
