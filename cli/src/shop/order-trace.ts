import { setTimeout as delay } from 'node:timers/promises';
import { CliError } from '../errors.ts';
import { assertTrace } from '../trace/assert.ts';
import type { TraceBackend } from '../trace/backend.ts';
import { loadContract } from '../trace/contract.ts';
import { buildTree, type TraceTree } from '../trace/tree.ts';
import { type EventSources, orderContract, type PublishedEvents } from './published-events.ts';

/** A trace as far as it is known, and what is wrong with it. */
export interface OrderTrace {
  readonly traceId: string;
  readonly tree: TraceTree;
  readonly spans: number;
  /** Null when the trace is whole, as far as anybody knows. */
  readonly note: string | null;
  /** The events that its contract has; undefined where it has none, or there is no contract. */
  readonly events?: PublishedEvents | undefined;
}

export interface AwaitOptions extends EventSources {
  readonly backend: TraceBackend;
  readonly traceId: string;
  /** Contract to wait for; without one, until no span has come for a while. */
  readonly contract: 'confirmed' | 'declined' | 'replayed' | undefined;
  readonly distinctProducts: number;
  readonly timeoutMs: number;
  /** Root of the clone, where contracts are. */
  readonly root: string;
  readonly signal: AbortSignal;
}

/** Spans are exported once a second at the latest; quieter for this long means that no more will come, in ms. */
const QUIET_MS = 1_500;
const POLL_MS = 100;

/**
 * Waits for a trace to be complete, at most `timeoutMs`. Rejects with CliError when the trace backend is unavailable.
 */
export async function awaitTrace(options: AwaitOptions): Promise<OrderTrace> {
  return options.contract === undefined ? awaitQuiet(options) : awaitContract(options, options.contract);
}

async function awaitContract(options: AwaitOptions, name: string): Promise<OrderTrace> {
  const { traceId, distinctProducts } = options;
  const contract = await loadContract(name, options.root);
  const parameters = 'distinctProducts' in contract.parameters ? { distinctProducts } : {};
  const { expected, events } = await orderContract({ ...options, contract, parameters });
  const { tree, spans, verdict, explanation } = await assertTrace({ ...options, expected, settleMs: 0 });
  return { traceId, tree, spans, note: verdict === 'pass' ? null : explanation, events };
}

async function awaitQuiet({ backend, traceId, timeoutMs, signal }: AwaitOptions): Promise<OrderTrace> {
  const deadline = performance.now() + timeoutMs;
  let trace = await readTrace(backend, traceId);
  let changedAt = performance.now();
  while (performance.now() < deadline && (trace.spans === 0 || performance.now() - changedAt < QUIET_MS)) {
    await delay(POLL_MS, undefined, { signal });
    const next = await readTrace(backend, traceId);
    if (next.spans !== trace.spans) changedAt = performance.now();
    trace = next;
  }
  return trace;
}

/** The trace as it is recorded now. Rejects with CliError when the trace backend is unavailable. */
async function readTrace(backend: TraceBackend, traceId: string): Promise<OrderTrace> {
  const { spans, incomplete } = await backend.trace(traceId);
  const note =
    incomplete ?? (spans.length === 0 ? `trace ${traceId} is not in the trace store (it keeps the newest)` : null);
  return { traceId, tree: buildTree(spans), spans: spans.length, note };
}

/** `readTrace` for a page that is useful without it: an absent backend becomes the note. */
export async function readTraceIfAny(backend: TraceBackend, traceId: string | null): Promise<OrderTrace | null> {
  if (traceId === null) return null;
  try {
    return await readTrace(backend, traceId);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { traceId, tree: { roots: [], orphans: [] }, spans: 0, note: error.message };
  }
}
