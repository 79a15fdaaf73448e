import { cloneRoot } from '../../../cli/src/platform/project.ts';
import { findTool } from '../../../cli/src/providers/resolve-tool.ts';
import { sharedCacheDir } from '../../../cli/src/providers/testing.ts';
import { serviceNames } from '../../../cli/src/topology/services.ts';
import type { Bench } from '../bench.ts';
import { alternate, type Case, type Measured } from '../measure/cases.ts';
import { CASE_HEADERS, caseRow, found, number, type Section } from '../section.ts';
import { shots } from './orders.ts';

/** Spans of one confirmed order (docs/traces.md). */
const SPANS = 31;

const STOCK = "tracing on, OpenTelemetry's instrumentations";

/**
 * (b) The platform with tracing and metrics, the same by OpenTelemetry's instrumentations where they are installed, with
 * metrics alone, and with neither. Each shot has a platform started for it:
 * one start of the same code differs from another by as much as tracing costs, and stays that way until it ends.
 */
export async function measureTracing(bench: Bench): Promise<Section> {
  const fresh = (name: string, kind: 'traced' | 'stock' | 'metered' | 'untraced'): Case => ({
    name,
    async run() {
      await bench.closeAll();
      return shots(bench, name, await bench.shop(kind), 32).run();
    },
  });
  const context = { root: cloneRoot(), cacheDir: sharedCacheDir(), env: process.env };
  const hasStock = (await findTool('instrumentation', context)) !== undefined;
  const measured = await alternate(
    [
      fresh('tracing on', 'traced'),
      ...(hasStock ? [fresh(STOCK, 'stock')] : []),
      fresh('tracing off', 'metered'),
      fresh('tracing and metrics off', 'untraced'),
    ],
    { ...bench.options, say: bench.say },
  );
  const on = found(measured, 'tracing on');
  const off = found(measured, 'tracing off');
  const neither = found(measured, 'tracing and metrics off');
  return {
    headers: CASE_HEADERS,
    rows: measured.map(caseRow),
    targets: [
      {
        what: 'CPU of a span in the services, export included, in µs',
        value: perSpan(on, off, serviceNames),
        atMost: 45,
      },
    ],
    notes: [
      'No figure where the rounds of both overlap: more of them are needed then, or a quieter machine.',
      `With metrics, which stay on when tracing is off, a span comes to ${number(perSpan(on, neither, serviceNames))} µs.`,
      hasStock
        ? `By OpenTelemetry's instrumentations, with their metrics, a span comes to ${number(perSpan(found(measured, STOCK), neither, serviceNames))} µs.`
        : 'OpenTelemetry\'s instrumentations were not measured: "shopctl setup --with instrumentation" installs them.',
      `32 concurrent, each shot on a platform started for it, after a ${bench.options.quick ? 'second' : 'minute'} under load. Differences of the six services, divided by ${SPANS} spans; receiving them, metrics included, costs the supervisor ${number(perSpan(on, neither, ['supervisor']))} µs a span beside it.`,
    ],
    measured,
  };
}

/**
 * What these processes take more in `more` than in `less`, in µs of CPU for each span of an order. NaN, which meets no target,
 * where it lies within the spread of the rounds.
 */
function perSpan(more: Measured, less: Measured, processes: readonly string[]): number {
  if (more.cpuMs.min <= less.cpuMs.max) return Number.NaN;
  const ms = ({ cpuMsBy }: Measured) => processes.reduce((sum, name) => sum + (cpuMsBy[name] ?? 0), 0);
  return (1_000 * (ms(more) - ms(less))) / SPANS;
}
