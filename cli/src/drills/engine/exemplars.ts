import type { TraceSpan } from '../../trace/tree.ts';
import type { ExemplarSpan, RecordOf } from '../journal/records.ts';
import type { PlacedOrder } from './customers.ts';
import type { DrillPorts } from './ports.ts';

/** Spans of an order have arrived after this time, ms: services export once a second, shipments follow. */
const SETTLED_MS = 4_000;
/** An order under the failure gets longer: what is retried has its spans later, ms. */
const READ_AFTER_MS = 10_000;
/** Candidates from before the failure; the newest that has settled is read. */
const KEPT = 60;

type Exemplar = Omit<RecordOf<'exemplar'>, 'seq' | 'ms' | 'at' | 'hash'>;

interface Candidate {
  readonly traceId: string;
  readonly outcome: string;
  readonly ms: number;
}

/** Keeps the trace of an order from before the failure, and of one that it changed. A debrief compares them. */
export interface Exemplars {
  note(placed: PlacedOrder): void;
  /** The failure begins. Resolves when the order from before is read. */
  begin(): Promise<void>;
  /** What was kept. A trace that cannot be read is not there. */
  collect(): Promise<readonly Exemplar[]>;
}

export function createExemplars({
  ports,
  over,
  elapsed,
}: {
  readonly ports: Pick<DrillPorts, 'clock' | 'trace'>;
  readonly over: AbortSignal;
  elapsed(): number;
}): Exemplars {
  const served: Candidate[] = [];
  let before: Exemplar | undefined;
  let began: number | undefined;
  let failed: Promise<Exemplar | undefined> | undefined;
  let other: Promise<Exemplar | undefined> | undefined;

  async function read(when: Exemplar['when'], candidate: Candidate): Promise<Exemplar | undefined> {
    // A debrief without a trace is better than a round that ends because of one.
    const spans = await ports.trace(candidate.traceId).catch(() => []);
    if (spans.length === 0) return undefined;
    const { traceId, outcome, ms } = candidate;
    return { type: 'exemplar', when, traceId, outcome, spans: shortened(spans), happenedMs: ms };
  }

  async function readLater(candidate: Candidate): Promise<Exemplar | undefined> {
    await ports.clock.sleep(READ_AFTER_MS, over).catch(() => undefined); // Over: it is read now.
    return read('during', candidate);
  }

  return {
    note({ kind, response, outcome }) {
      if (kind !== 'confirmed' || response.traceId === null) return;
      const candidate = { traceId: response.traceId, outcome: outcomeOf(response), ms: elapsed() };
      if (began === undefined) {
        if (outcome === 'good') served.push(candidate);
        if (served.length > KEPT) served.shift();
      } else if (outcome !== 'good') failed ??= readLater(candidate);
      else if (candidate.ms - began > SETTLED_MS) other ??= readLater(candidate);
    },
    async begin() {
      began = elapsed();
      const latest = served.findLast(({ ms }) => ms <= elapsed() - SETTLED_MS);
      before = latest && (await read('before', latest));
    },
    async collect() {
      const during = (await failed) ?? (await other);
      return [before, during].filter((one) => one !== undefined);
    },
  };
}

function outcomeOf(response: PlacedOrder['response']): string {
  if (response.kind === 'problem') return response.problem.code;
  return response.reason === null ? response.status : `${response.status}: ${response.reason}`;
}

/** Without attributes, which are most of a trace. */
function shortened(spans: readonly TraceSpan[]): readonly ExemplarSpan[] {
  const first = spans.map(({ startNanos }) => startNanos).reduce((a, b) => (a < b ? a : b));
  const ms = (nanos: bigint) => Math.round(Number(nanos) / 100_000) / 10;
  return spans.map(({ spanId, parentSpanId, service, name, kind, database, error, startNanos, endNanos }) => ({
    id: spanId,
    ...(parentSpanId !== undefined && { parent: parentSpanId }),
    service,
    name,
    kind,
    ...(database !== undefined && { database }),
    error,
    fromMs: ms(startNanos - first),
    tookMs: ms(endNanos - startNanos),
  }));
}
