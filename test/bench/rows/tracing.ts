import type { Bench } from '../bench.ts';
import { alternate } from '../measure/cases.ts';
import { CASE_HEADERS, caseRow, found, type Section } from '../section.ts';
import { shots } from './orders.ts';

/** Spans of one confirmed order (docs/traces.md). */
const SPANS = 31;

/** (b) The same platform with tracing and metrics, and without. */
export async function measureTracing(bench: Bench): Promise<Section> {
  const [traced, untraced] = [await bench.shop('traced'), await bench.shop('untraced')];
  const measured = await alternate(
    [shots(bench, 'tracing on', traced, 32), shots(bench, 'tracing off', untraced, 32)],
    { ...bench.options, say: bench.say },
  );
  const [on, off] = [found(measured, 'tracing on'), found(measured, 'tracing off')];
  const serviceCost = (name: string) => (on.cpuMsBy[name] ?? 0) - (off.cpuMsBy[name] ?? 0);
  const services = ['gateway', 'orders', 'catalog', 'stock', 'payments', 'shipping'];
  const perSpan = (1000 * services.reduce((sum, name) => sum + serviceCost(name), 0)) / SPANS;
  return {
    headers: CASE_HEADERS,
    rows: measured.map(caseRow),
    targets: [
      { what: 'CPU of a span in the services, export and metrics included, in µs', value: perSpan, atMost: 45 },
    ],
    notes: [
      `32 concurrent. The difference of the six services, divided by ${SPANS} spans; receiving them costs the supervisor ${((serviceCost('supervisor') * 1000) / SPANS).toFixed(0)} µs a span beside it.`,
    ],
    measured,
  };
}
