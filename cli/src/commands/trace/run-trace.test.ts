import { afterEach, describe, expect, it } from 'vitest';
import type { CommandDeps } from '../../command-context.ts';
import { exitCodes } from '../../exit-codes.ts';
import { type AttributeMap, otlpAttributes } from '../../otlp/otlp-json.ts';
import { startOtlpReceiver } from '../../otlp/receiver.ts';
import { createOutput } from '../../output/output.ts';
import type { PlatformConnection } from '../../platform/connection.ts';
import { cloneRoot, openProject } from '../../platform/project.ts';
import { databaseNames } from '../../topology/databases.ts';
import { serviceNames } from '../../topology/services.ts';
import { expectedTree, loadContract } from '../../trace/contract.ts';
import { type MutableSpan, spansOf } from '../../trace/synthetic-trace.ts';
import { runTraceAssert, runTraceShow } from './run-trace.ts';

const TRACE = 'a'.repeat(32);
const KINDS = ['', 'internal', 'server', 'client', 'producer', 'consumer'];
const confirmed = expectedTree(await loadContract('confirmed', cloneRoot()));

afterEach(() => {
  process.exitCode = undefined;
});

/** A built-in store that holds these spans, of which these services report, and command dependencies that are connected to it. */
async function aPlatformWith(spans: readonly MutableSpan[], services: readonly string[] = serviceNames) {
  const receiver = await startOtlpReceiver({ host: '127.0.0.1', port: 0 });
  receiver.traces.add({ resourceSpans: spans.map((span) => toOtlp(span)) }, Date.now());
  receiver.metrics.add({ resourceMetrics: services.map(toAccount) }, Date.now());
  const written: string[] = [];
  const stdout = { write: (text: string) => written.push(text) };
  const output = createOutput({ stdout, stderr: { write: () => true }, env: {} });
  const deps: CommandDeps = {
    output,
    env: {},
    signal: new AbortController().signal,
    onInterrupt() {},
    projectFrom: () => openProject('shop', cloneRoot(), {}),
    connect: async () => ({ telemetryUrl: receiver.url, databaseUrls: noDatabases }) as PlatformConnection,
  };
  return { receiver, deps, output, text: () => written.join('') };
}

function toOtlp(span: MutableSpan, traceId: string = TRACE) {
  const attributes: AttributeMap =
    span.database === undefined ? {} : { 'db.system.name': 'postgresql', 'db.namespace': span.database };
  const sent = {
    traceId,
    spanId: span.spanId,
    ...(span.parentSpanId !== undefined && { parentSpanId: span.parentSpanId }),
    name: span.name,
    kind: KINDS.indexOf(span.kind),
    startTimeUnixNano: String(span.startNanos),
    endTimeUnixNano: String(span.endNanos),
    attributes: otlpAttributes(attributes),
    status: { code: span.error ? 2 : 0 },
  };
  return {
    resource: { attributes: otlpAttributes({ 'service.name': span.service }) },
    scopeSpans: [{ spans: [sent] }],
  };
}

/** A report in which the service has sent all its spans. */
function toAccount(service: string) {
  const dataPoints = Object.entries({ started: 9, ended: 9, exported: 9, dropped: 0 }).map(([state, count]) => ({
    attributes: otlpAttributes({ state }),
    timeUnixNano: String(BigInt(Date.now()) * 1_000_000n),
    asInt: count,
  }));
  const sum = { dataPoints, isMonotonic: true, aggregationTemporality: 2 };
  return {
    resource: { attributes: otlpAttributes({ 'service.name': service }) },
    scopeMetrics: [{ metrics: [{ name: 'shop.telemetry.spans', sum }] }],
  };
}

/** Nothing listens there. */
const noDatabases = Object.fromEntries(
  databaseNames.map((name) => [name, `postgres://nobody@127.0.0.1:1/${name}`]),
) as PlatformConnection['databaseUrls'];

const options = { contract: 'confirmed', timeout: 0.2, settle: 0.05 };

describe('trace assert', () => {
  it('exits 0 and says what was found when the trace meets its contract', async () => {
    const { receiver, deps, text } = await aPlatformWith(spansOf(confirmed));
    await using _ = receiver;
    await runTraceAssert(TRACE, options, deps);
    expect(text()).toContain('31 spans, as the contract wants; 6 services, 16 SQL over 5 databases');
    expect(process.exitCode).toBe(exitCodes.ok);
  });

  it('exits 1 with a tree diff when a span is there that must not be', async () => {
    const spans = spansOf(confirmed);
    const { receiver, deps, text } = await aPlatformWith([
      ...spans,
      { ...(spans[5] as MutableSpan), spanId: 'e'.repeat(16), name: 'pg-pool.connect' },
    ]);
    await using _ = receiver;
    await runTraceAssert(TRACE, options, deps);
    expect(text()).toMatch(/^\+ +catalog pg-pool\.connect$/m);
    expect(process.exitCode).toBe(exitCodes.failed);
  });

  it('exits 5 when a span is missing without a known reason, and reports it as JSON too', async () => {
    const { receiver, deps, output, text } = await aPlatformWith(spansOf(confirmed).slice(0, 30), []);
    await using _ = receiver;
    output.use('json');
    await runTraceAssert(TRACE, options, deps);
    expect(process.exitCode).toBe(exitCodes.unknown);
    expect(JSON.parse(text())).toMatchObject({
      verdict: 'unknown',
      spans: 30,
      expected: { spans: 31 },
      faults: [{ kind: 'missing', service: 'orders', name: 'UPDATE outbox' }],
      absences: [{ service: 'orders', absence: 'not known' }],
    });
  }, 10_000);
});

describe('trace show', () => {
  it('prints the tree and what it counts', async () => {
    const { receiver, deps, text } = await aPlatformWith(spansOf(confirmed));
    await using _ = receiver;
    await runTraceShow({ traceId: TRACE, order: TRACE }, {}, deps);
    expect(text()).toContain('orders         └ outbox relay');
    expect(text()).toContain('31 spans in 6 services, 16 SQL over 5 databases');
  });

  it('finds a trace by the beginning of its id, also while no database responds', async () => {
    const { receiver, deps, text } = await aPlatformWith(spansOf(confirmed));
    await using _ = receiver;
    await runTraceShow({ traceId: undefined, order: TRACE.slice(0, 6) }, {}, deps);
    expect(text()).toContain('31 spans in 6 services');
  });

  it('says that no trace and no order begins so where neither does', async () => {
    const { receiver, deps } = await aPlatformWith(spansOf(confirmed));
    await using _ = receiver;
    const shown = runTraceShow({ traceId: undefined, order: 'bbbbbb' }, {}, deps);
    // There is no database here: what it says decides, because an order may be meant.
    await expect(shown).rejects.toMatchObject({ code: 'database_unreachable' });
  });

  it('wants more of an id where two traces begin so', async () => {
    const { receiver, deps } = await aPlatformWith(spansOf(confirmed));
    await using _ = receiver;
    const [first] = spansOf(confirmed) as [MutableSpan];
    const other = `${TRACE.slice(0, 8)}${'b'.repeat(24)}`;
    receiver.traces.add({ resourceSpans: [toOtlp(first, other)] }, Date.now());
    const shown = runTraceShow({ traceId: undefined, order: TRACE.slice(0, 8) }, {}, deps);
    await expect(shown).rejects.toMatchObject({ code: 'ambiguous_id', why: expect.stringContaining(other) });
    await runTraceShow({ traceId: undefined, order: TRACE.slice(0, 9) }, {}, deps);
  });

  it('fails for a trace that is not known', async () => {
    const { receiver, deps } = await aPlatformWith([]);
    await using _ = receiver;
    await expect(runTraceShow({ traceId: TRACE, order: TRACE }, {}, deps)).rejects.toMatchObject({
      exitCode: exitCodes.failed,
    });
  });
});
