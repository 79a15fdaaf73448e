import { addAbortListener } from 'node:events';
import type { OrderRecord } from '../../../scenarios/lib/record.ts';
import type { Phase } from '../../../scenarios/lib/scenarios.ts';
import { messageOf } from '../errors.ts';
import type { Verdict } from '../shared/verdict.ts';
import { type EventSources, orderContract } from '../shop/published-events.ts';
import { createAccountReader } from '../trace/accounting.ts';
import { assertTrace } from '../trace/assert.ts';
import type { TelemetryBackend } from '../trace/backend.ts';
import { loadContract } from '../trace/contract.ts';

/** One order's trace, compared with its contract. */
export interface SampledTrace {
  readonly traceId: string;
  readonly orderId: string;
  readonly phase: string;
  readonly contract: string;
  readonly verdict: Verdict;
  readonly explanation: string;
}

export interface TraceSamplerOptions {
  readonly count: number;
  /** Of the whole load, ms. */
  readonly durationMs: number;
  readonly phases: readonly Phase[];
  readonly project: EventSources['project'] & { readonly root: string };
  readonly outboxTypes: EventSources['outboxTypes'];
  readonly telemetry: TelemetryBackend;
  /** The trace that an order's saga is in, where requests are repeated and a response does not name it. */
  readonly traceOf?: (orderId: string) => Promise<string | undefined>;
}

/** An order this quick met no timeout on its way, so its trace has its shape: the shortest attempt timeout is 1 s. ms. */
const QUICK_MS = 700;
/** While the load goes on; what is not whole by then is looked at again at the end. ms. */
const FIRST_LOOK_MS = 20_000;
const LAST_LOOK_MS = 10_000;
/** A late extra span still counts, ms. */
const SETTLE_MS = 1_000;

/**
 * Takes orders evenly over a load and compares their traces soon after they were placed: the store keeps the newest traces
 * only. A phase with a fault, and the time after it, is left out: there a trace may rightly be otherwise.
 */
export class TraceSampler {
  readonly #options: TraceSamplerOptions;
  readonly #over = new AbortController();
  readonly #chosen: { readonly record: OrderRecord; readonly result: Promise<SampledTrace> }[] = [];
  readonly #eligible: ReadonlySet<string>;
  /** The newest that fit and were not taken, the newest last. */
  #spare: readonly OrderRecord[] = [];
  #firstAt: number | undefined;

  constructor(options: TraceSamplerOptions) {
    this.#options = options;
    const disturbed = options.phases.length > 1 ? ['fault', 'recovery', 'spike'] : [];
    this.#eligible = new Set(options.phases.map(({ name }) => name).filter((name) => !disturbed.includes(name)));
  }

  /** An order has its response. The next one that fits is taken once its time has come. */
  offer(record: OrderRecord): void {
    const { count, durationMs } = this.#options;
    this.#firstAt ??= record.at;
    const due = this.#firstAt + (durationMs * (this.#chosen.length + 0.5)) / count;
    if (this.#chosen.length >= count || !this.#fits(record)) return;
    if (record.at >= due) this.#take(record);
    else this.#spare = [...this.#spare, record].slice(-count);
  }

  /**
   * The load is over: when orders at the end were too few or too slow, newest ones that were passed over stand in. Their
   * traces are the likeliest that the store still has.
   */
  fillUp(): void {
    const missing = this.#options.count - this.#chosen.length;
    if (missing > 0) for (const record of this.#spare.slice(-missing)) this.#take(record);
  }

  #take(record: OrderRecord): void {
    this.#chosen.push({ record, result: this.#look(record, FIRST_LOOK_MS) });
  }

  #fits({ phase, status, reason, tookMs, orderId, traceId, isFirst }: OrderRecord): boolean {
    const hasContract = status === 'Confirmed' || reason === 'payment declined';
    const isKnown = orderId !== undefined && traceId !== undefined;
    return hasContract && isKnown && isFirst && tookMs <= QUICK_MS && this.#eligible.has(phase);
  }

  /**
   * Resolves with every verdict, after the load and its outbox are done. Rejects only when `signal` aborts, and then
   * immediately.
   */
  async results(signal: AbortSignal): Promise<readonly SampledTrace[]> {
    using _ = addAbortListener(signal, () => this.stop());
    const all = await Promise.all(
      this.#chosen.map(async ({ record, result }) => {
        const first = await result;
        // A relay that was behind is through by now; a trace that was already wrong stays so.
        return first.verdict === 'pass' || this.#over.signal.aborted ? first : this.#look(record, LAST_LOOK_MS);
      }),
    );
    signal.throwIfAborted();
    return all;
  }

  /** Looks no further. */
  stop(): void {
    this.#over.abort();
  }

  async #look(record: OrderRecord, timeoutMs: number): Promise<SampledTrace> {
    const contractName = record.status === 'Confirmed' ? 'confirmed' : 'declined';
    const about = { orderId: String(record.orderId), phase: record.phase, contract: contractName };
    let traceId = String(record.traceId);
    try {
      traceId = (await this.#options.traceOf?.(about.orderId)) ?? traceId;
      const { verdict, explanation } = await this.#assert(contractName, traceId, record, timeoutMs);
      return { traceId, ...about, verdict, explanation };
    } catch (error) {
      return { traceId, ...about, verdict: 'unknown', explanation: messageOf(error) };
    }
  }

  async #assert(contractName: string, traceId: string, { distinctProducts }: OrderRecord, timeoutMs: number) {
    const { project, outboxTypes, telemetry } = this.#options;
    const { signal } = this.#over;
    const contract = await loadContract(contractName, project.root);
    const parameters = 'distinctProducts' in contract.parameters ? { distinctProducts } : {};
    const asked = { contract, parameters, backend: telemetry, traceId, project, outboxTypes, timeoutMs, signal };
    const { expected } = await orderContract(asked);
    return assertTrace({
      backend: telemetry,
      traceId,
      expected,
      timeoutMs,
      settleMs: SETTLE_MS,
      accounting: createAccountReader(telemetry),
      underLoad: true,
      signal,
    });
  }
}
