import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createStyle } from '../output/style.ts';
import { cloneRoot } from '../platform/project.ts';
import { compareTrace, type FaultKind } from './compare.ts';
import { contractNames, type ExpectedSpan, expectedTree, loadContract } from './contract.ts';
import { diffLines, renderDiff } from './diff.ts';
import { type MutableSpan, spansOf } from './synthetic-trace.ts';
import { buildTree } from './tree.ts';

const style = createStyle({ enabled: false });
const golden = Object.fromEntries(
  await Promise.all(
    contractNames.map(async (name) => [name, expectedTree(await loadContract(name, cloneRoot()))] as const),
  ),
) as Record<(typeof contractNames)[number], ExpectedSpan>;
const confirmed = golden.confirmed;

/** The faults of a flawless confirmed trace after `change`. */
function faultsAfter(change: (spans: MutableSpan[]) => MutableSpan[], expected = confirmed) {
  return compareTrace(expected, buildTree(change(spansOf(expected)))).faults;
}

function find(spans: readonly MutableSpan[], service: string, name: string): MutableSpan {
  const found = spans.find((span) => span.service === service && span.name === name);
  if (found === undefined) throw new Error(`no span ${service} ${name}`);
  return found;
}

/** Changes one span in place. */
function alter(service: string, name: string, changes: Partial<MutableSpan>) {
  return (spans: MutableSpan[]) => {
    Object.assign(find(spans, service, name), changes);
    return spans;
  };
}

function withExtra(parent: MutableSpan, changes: Partial<MutableSpan>, spans: MutableSpan[]): MutableSpan[] {
  return [...spans, { ...parent, spanId: 'e'.repeat(16), parentSpanId: parent.spanId, ...changes }];
}

describe('compareTrace', () => {
  it.each(contractNames)('finds no fault in a trace of the shape %s', (name) => {
    expect(faultsAfter((spans) => spans, golden[name])).toEqual([]);
  });

  it('names a missing span and the place where it belongs', () => {
    const faults = faultsAfter((spans) => spans.filter(({ name }) => name !== 'INSERT inbox'));
    expect(faults.map(({ kind, message }) => [kind, message])).toEqual([
      ['missing', 'shipping "INSERT inbox" is missing under shipping "deliver order.confirmed"'],
    ]);
  });

  it('reports a missing span once, not the spans below it, when those are orphans', () => {
    const faults = faultsAfter((spans) => spans.filter(({ name }) => name !== 'publish order.confirmed'));
    expect(faults.map(({ message }) => message)).toEqual([
      'orders "publish order.confirmed" is missing under orders "outbox relay"',
    ]);
  });

  it('names an extra span and its parent', () => {
    const faults = faultsAfter((spans) =>
      withExtra(find(spans, 'orders', 'charge payment'), { name: 'POST', kind: 'client' }, spans),
    );
    expect(faults.map(({ kind, message }) => [kind, message])).toEqual([
      ['extra', 'orders "POST" is not expected under orders "charge payment"'],
    ]);
  });

  it('names a span that is put between a parent and its child, and the child that it displaces', () => {
    const faults = faultsAfter((spans) => {
      const child = find(spans, 'payments', 'INSERT payments');
      const parent = find(spans, 'payments', 'POST /payments');
      const between = { name: 'pg-pool.connect', kind: 'client' as const };
      const changed = withExtra(parent, between, spans);
      child.parentSpanId = 'e'.repeat(16);
      return changed;
    });
    expect(faults.map(({ kind }) => kind).sort()).toEqual(['extra', 'misplaced']);
  });

  it('names the parent that a misplaced span has and the one that it should have', () => {
    const faults = faultsAfter((spans) => {
      find(spans, 'orders', 'outbox relay').parentSpanId = find(spans, 'orders', 'POST /orders').spanId;
      return spans;
    });
    expect(faults.map(({ kind, message }) => [kind, message])).toEqual([
      ['misplaced', 'orders "outbox relay" is under orders "POST /orders", expected under orders "order saga"'],
    ]);
  });

  it.each<[FaultKind, string, Partial<MutableSpan>]>([
    ['misnamed', 'is named "publish shop.events", expected "publish order.confirmed"', { name: 'publish shop.events' }],
    ['wrongKind', 'is of kind client, expected producer', { kind: 'client' }],
    ['wrongService', 'is of relay, expected orders', { service: 'relay' }],
    ['wrongError', 'is in error (broker nack)', { error: true, statusMessage: 'broker nack' }],
    ['wrongDatabase', 'is on orders, expected none', { database: 'orders' }],
  ])('names what is wrong with a span: %s', (kind, text, changes) => {
    const faults = faultsAfter(alter('orders', 'publish order.confirmed', changes));
    expect(faults.map((fault) => fault.kind)).toEqual([kind]);
    expect(faults[0]?.message).toContain(text);
  });

  it('takes siblings in any order, and a first span that continues the caller’s trace', () => {
    const spans = spansOf(confirmed);
    (spans[0] as MutableSpan).parentSpanId = 'f'.repeat(16);
    const reversed = spans.toSorted((a, b) =>
      a === spans[0] ? -1 : b === spans[0] ? 1 : b.spanId > a.spanId ? 1 : -1,
    );
    expect(compareTrace(confirmed, buildTree(reversed)).faults).toEqual([]);
  });

  it('takes the span that continues the caller’s trace for the root, also when a child has the same start and comes first', () => {
    const [root, child, ...others] = spansOf(confirmed) as [MutableSpan, MutableSpan, ...MutableSpan[]];
    root.parentSpanId = 'f'.repeat(16);
    child.startNanos = root.startNanos;
    expect(compareTrace(confirmed, buildTree([child, root, ...others])).faults).toEqual([]);
  });

  it('repeats the catalog read for each distinct product', async () => {
    const three = expectedTree(await loadContract('confirmed', cloneRoot()), { distinctProducts: 3 });
    expect(spansOf(three)).toHaveLength(37);
    expect(compareTrace(three, buildTree(spansOf(three))).faults).toEqual([]);
    expect(compareTrace(three, buildTree(spansOf(confirmed))).faults.map(({ kind }) => kind)).toContain('missing');
  });

  it('accepts that spans which may be lost are gone, with their children as orphans', () => {
    const { recovered } = golden;
    const comparison = compareTrace(recovered, buildTree(spansOf(recovered, { lost: 'all' })));
    expect(comparison.faults).toEqual([]);
    expect(comparison.lost.size).toBe(7);
  });

  it('accepts that some of the spans which may be lost are there', () => {
    const { recovered } = golden;
    fc.assert(
      fc.property(fc.infiniteStream(fc.boolean()), (coins) => {
        const certain = new Set(spansOf(recovered, { lost: 'all' }).map(({ spanId }) => spanId));
        const kept = spansOf(recovered).filter(({ spanId }) => certain.has(spanId) || coins.next().value);
        expect(compareTrace(recovered, buildTree(kept)).faults).toEqual([]);
      }),
    );
  });

  it('detects any single mutation of a golden tree', () => {
    const mutation = fc.record({
      contract: fc.constantFrom(...contractNames),
      target: fc.nat(),
      other: fc.nat(),
      what: fc.constantFrom('remove', 'duplicate', 'rename', 'kind', 'service', 'database', 'error', 'move'),
    });
    fc.assert(
      fc.property(mutation, ({ contract, target, other, what }) => {
        const expected = golden[contract];
        const spans = mutate(spansOf(expected), target, other, what);
        fc.pre(spans !== undefined);
        expect(compareTrace(expected, buildTree(spans as MutableSpan[])).faults).not.toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });
});

/** Undefined where the mutation would change nothing that a contract demands. */
function mutate(spans: MutableSpan[], target: number, other: number, what: string): MutableSpan[] | undefined {
  const index = target % spans.length;
  const span = spans[index] as MutableSpan;
  switch (what) {
    case 'remove':
      return isOptional(span) ? undefined : spans.toSpliced(index, 1);
    case 'duplicate':
      return [...spans, { ...span, spanId: 'd'.repeat(16) }];
    case 'rename':
      span.name += ' 2';
      return spans;
    case 'kind':
      span.kind = span.kind === 'internal' ? 'client' : 'internal';
      return spans;
    case 'service':
      span.service += '2';
      return spans;
    case 'database':
      span.database = span.database === undefined ? 'orders' : undefined;
      return spans;
    case 'error':
      span.error = !span.error;
      return spans;
    default:
      return move(spans, span, spans[other % spans.length] as MutableSpan);
  }
}

/** `recovered` allows its early orders spans to be lost; which ones the file says, the mutation leaves them alone. */
function isOptional({ service, kind, name }: MutableSpan): boolean {
  return service === 'orders' || (kind === 'internal' && name === 'order saga');
}

/** Under another parent that is not below it, and that is not one of the same kind (two saga updates are alike). */
function move(spans: MutableSpan[], span: MutableSpan, parent: MutableSpan): MutableSpan[] | undefined {
  const before = spans.find(({ spanId }) => spanId === span.parentSpanId);
  if (before === undefined || parent === before || isBelow(spans, parent, span)) return undefined;
  if (parent.name === before.name && parent.service === before.service) return undefined;
  span.parentSpanId = parent.spanId;
  return spans;
}

function isBelow(spans: readonly MutableSpan[], span: MutableSpan, ancestor: MutableSpan): boolean {
  for (
    let at: MutableSpan | undefined = span;
    at !== undefined;
    at = spans.find((s) => s.spanId === at?.parentSpanId)
  ) {
    if (at === ancestor) return true;
  }
  return false;
}

describe('renderDiff', () => {
  it('shows the faults in the tree and folds what is as expected', () => {
    const spans = withExtra(
      find(spansOf(confirmed), 'orders', 'charge payment'),
      { name: 'POST', kind: 'client' },
      spansOf(confirmed).filter(({ name }) => name !== 'INSERT inbox'),
    );
    find(spans, 'orders', 'publish order.confirmed').name = 'publish shop.events';
    const text = renderDiff(diffLines(confirmed, compareTrace(confirmed, buildTree(spans))), style);
    expect(text).toContain('- ');
    expect(text.split('\n').filter((line) => !line.startsWith('  '))).toEqual([
      '+           orders POST',
      '~           orders publish order.confirmed  (is named "publish shop.events", expected "publish order.confirmed")',
      '-               shipping INSERT inbox',
    ]);
    expect(text).toContain('      orders GET  (2 below as expected)');
  });
});
