import type { Bench } from '../bench.ts';
import { alternate } from '../measure/cases.ts';
import { CASE_HEADERS, caseRow, type Section } from '../section.ts';
import { shots } from './orders.ts';

/** (c) With a proxy on every edge, and wired directly. */
export async function measureProxies(bench: Bench): Promise<Section> {
  const subjects = { 'with proxies': await bench.shop('proxied'), 'wired directly': await bench.shop('direct') };
  const cases = [1, 32].flatMap((concurrency) =>
    Object.entries(subjects).map(([name, subject]) => shots(bench, `${name}, ${concurrency}`, subject, concurrency)),
  );
  const measured = await alternate(cases, { ...bench.options, say: bench.say });
  return { headers: CASE_HEADERS, rows: measured.map(caseRow), targets: [], notes: [], measured };
}
