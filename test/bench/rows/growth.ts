import type { Bench } from '../bench.ts';
import { alternate } from '../measure/cases.ts';
import { CASE_HEADERS, caseRow, found, number, type Section } from '../section.ts';
import { fillConfirmed } from '../subjects/fill.ts';
import { ownerUrls } from '../subjects/shop.ts';
import { shots } from './orders.ts';

/** (h) What an order costs with rows in every table, and with ten times as many. */
export async function measureGrowth(bench: Bench): Promise<Section> {
  const rows = bench.options.quick ? 2_000 : 50_000;
  const [few, many] = [await bench.shop('few'), await bench.shop('many')];
  await fillConfirmed(await ownerUrls(few.platform), rows);
  await fillConfirmed(await ownerUrls(many.platform), 10 * rows);
  const names = [`${number(rows)} orders there`, `${number(10 * rows)} orders there`] as const;
  const measured = await alternate([shots(bench, names[0], few, 32), shots(bench, names[1], many, 32)], {
    ...bench.options,
    say: bench.say,
  });
  const ratio = found(measured, names[1]).cpuMs.median / found(measured, names[0]).cpuMs.median;
  return {
    headers: CASE_HEADERS,
    rows: measured.map(caseRow),
    targets: [{ what: 'CPU of an order at ten times the rows, of that at one time', value: ratio, atMost: 1.1 }],
    notes: [
      '32 concurrent, wired directly, all tracing on. Rows in orders, outbox, reservations, payments, inbox, Shipments.',
    ],
    measured,
  };
}
