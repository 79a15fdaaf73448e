import type { ExpectedSpan } from './contract.ts';
import type { TraceSpan } from './tree.ts';

/** A recorded span that tests can change. */
export type MutableSpan = { -readonly [K in keyof TraceSpan]: TraceSpan[K] };

/**
 * The spans that a flawless run of a contract records, parents first; ids are counted up; `lost` says which of
 * those that may be lost are. For tests.
 */
export function spansOf(expected: ExpectedSpan, { lost = 'none' }: { lost?: 'none' | 'all' } = {}): MutableSpan[] {
  const spans: MutableSpan[] = [];
  let number = 0;
  function add(span: ExpectedSpan, parentSpanId: string | undefined): void {
    number++;
    const spanId = number.toString(16).padStart(16, '0');
    const isLost = span.mayBeLost && lost === 'all';
    const recorded: MutableSpan = {
      spanId,
      parentSpanId,
      service: span.service,
      instance: `${span.service}-1`,
      pid: 1,
      name: span.name,
      kind: span.kind,
      database: span.database,
      error: span.error,
      statusMessage: undefined,
      startNanos: BigInt(number) * 1_000_000n,
      endNanos: BigInt(number + 5) * 1_000_000n,
      attributes: {},
    };
    if (!isLost) spans.push(recorded);
    for (const child of span.children) add(child, spanId);
  }
  add(expected, undefined);
  return spans;
}
