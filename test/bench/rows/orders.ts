import type { Bench } from '../bench.ts';
import { alternate, type Case } from '../measure/cases.ts';
import { CASE_HEADERS, caseRow, found, type Section } from '../section.ts';
import type { Floor } from '../subjects/floor.ts';

/** (a) Orders a second and latency, against the SQL floor and the empty chain. */
export async function measureOrders(bench: Bench): Promise<Section> {
  const subjects = {
    'SQL floor': await bench.floor(),
    'empty chain': await bench.chain(),
    shop: await bench.shop('direct'),
  };
  const at = bench.options.quick ? [1, 32] : [1, 8, 32, 64];
  const cases = at.flatMap((concurrency) =>
    Object.entries(subjects).map(([name, subject]) => shots(bench, `${name}, ${concurrency}`, subject, concurrency)),
  );
  const measured = await alternate(cases, { ...bench.options, say: bench.say });
  const shop = found(measured, 'shop, 32');
  return {
    headers: CASE_HEADERS,
    rows: measured.map(caseRow),
    targets: [
      {
        what: 'orders/s at 32 concurrent, of the SQL floor',
        value: shop.perSecond.median / found(measured, 'SQL floor, 32').perSecond.median,
        atLeast: 0.5,
      },
      { what: 'p99 at 32 concurrent, of its median', value: shop.p99Ms.median / shop.p50Ms.median, atMost: 3 },
    ],
    notes: [
      "The floor is one Node process that runs an order's 16 statements over five databases through the services' own functions.",
      'The chain is five processes with empty handlers, called as an order calls them. The shop is wired directly, all tracing on. Its orders have an Idempotency-Key, whose lookup is a statement more than the floor has.',
    ],
    measured,
  };
}

/** A case of `subject` at a concurrency. */
export function shots(bench: Bench, name: string, subject: Floor, concurrency: number): Case {
  return { name, run: () => subject.shoot({ concurrency, limit: { durationMs: bench.options.shotMs } }) };
}
