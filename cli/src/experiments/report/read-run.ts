import { faults as knownFaults } from '../../chaos/catalog.ts';
import { msSinceBegin } from '../../chaos/lease.ts';
import { writeParameters } from '../../chaos/parameters.ts';
import type { TimedEvent, TimedPhase } from '../../report/timeline.ts';
import { pairsText } from '../../report/words.ts';
import type {
  Clocks,
  ConditionRecord,
  EventRecord,
  FaultRecord,
  JournalRecord,
  PhaseRecord,
  RunRecord,
  SampleRecord,
  StepRecord,
  VerdictRecord,
  WitnessRecord,
} from '../journal-records.ts';
import { readOrders } from './read-orders.ts';
import type { ConditionReport, FaultReport, RunReport, SampleReport, StepReport } from './run-report.ts';

/** A run from its journal's records. The journal may end anywhere, also before its first record. */
export function readRun(records: readonly JournalRecord[]): RunReport {
  const run = records.find((record): record is RunRecord => record.type === 'run');
  const verdict = records.findLast((record): record is VerdictRecord => record.type === 'verdict');
  const faults = readFaults(records);
  const steps = readSteps(ofType(records, 'step'));
  return {
    ...identityOf(run),
    verdict: verdict?.verdict ?? 'none',
    reasons: verdict?.reasons ?? reasonsSoFar(faults, steps),
    exitCode: verdict?.exitCode,
    endMs: records.reduce((end, { ms }) => Math.max(end, ms), 0),
    clocks: verdict?.clocks ?? clocksSoFar(faults),
    phases: readPhases(ofType(records, 'phase')),
    steps,
    faults,
    orders: readOrders(ofType(records, 'order')),
    samples: ofType(records, 'sample').map(readSample),
    events: ofType(records, 'event').map(readEvent),
    conditions: records.filter(isCondition).map(readCondition),
    audit: ofType(records, 'audit').at(-1),
  };
}

type OfType<Type extends JournalRecord['type']> = Extract<JournalRecord, { readonly type: Type }>;

function ofType<Type extends JournalRecord['type']>(records: readonly JournalRecord[], type: Type): OfType<Type>[] {
  return records.filter((record): record is OfType<Type> => record.type === type);
}

function isCondition(record: JournalRecord): record is ConditionRecord {
  return record.type === 'reach' || record.type === 'never';
}

type Identity = Pick<
  RunReport,
  'runId' | 'experiment' | 'project' | 'seed' | 'seededBugs' | 'file' | 'versions' | 'startedAt'
>;

function identityOf(run: RunRecord | undefined): Identity {
  return {
    runId: run?.runId ?? 'unknown run',
    experiment: {
      id: run?.experiment.id ?? '?',
      title: run?.experiment.title ?? 'a run whose journal has no beginning',
      why: run?.experiment.why ?? '',
      tags: run?.experiment.tags ?? [],
    },
    project: run?.project ?? '–',
    seed: run?.seed,
    seededBugs: run?.seededBugs ?? [],
    file: run?.file ?? '–',
    versions: run === undefined ? '–' : `shopctl ${run.shopctl}, Node ${run.node}`,
    startedAt: run === undefined ? undefined : new Date(run.at),
  };
}

function readPhases(records: readonly PhaseRecord[]): TimedPhase[] {
  return pair(records, ({ phase }) => phase).map(({ begin, end }) => ({
    phase: begin.phase,
    beginMs: begin.ms,
    endMs: end?.ms,
    verdict: end?.verdict,
  }));
}

function readSteps(records: readonly StepRecord[]): StepReport[] {
  return pair(records, ({ phase, index, name }) => `${phase} ${index} ${name}`).map(({ begin, end }) => ({
    phase: begin.phase,
    name: begin.name,
    kind: begin.kind,
    provider: begin.provider,
    beginMs: begin.ms,
    endMs: end?.ms,
    verdict: end?.verdict,
    expected: end?.expected ?? begin.expected ?? '',
    observed: end?.observed ?? '',
    evidence: end?.evidence ?? '',
    attempts: end?.attempts,
    traceIds: end?.traceIds ?? [],
  }));
}

/** Beginnings with their ends; an end whose beginning is missing stands for both. */
function pair<R extends { readonly state: 'begin' | 'end' }>(
  records: readonly R[],
  keyOf: (record: R) => string,
): { begin: R; end: R | undefined }[] {
  const pairs: { begin: R; end: R | undefined }[] = [];
  const open = new Map<string, { begin: R; end: R | undefined }>();
  for (const record of records) {
    const key = keyOf(record);
    const waiting = open.get(key);
    if (record.state === 'end' && waiting !== undefined) {
      waiting.end = record;
      open.delete(key);
      continue;
    }
    const found = { begin: record, end: record.state === 'end' ? record : undefined };
    pairs.push(found);
    if (record.state === 'begin') open.set(key, found);
  }
  return pairs;
}

function readFaults(records: readonly JournalRecord[]): FaultReport[] {
  const ends = ofType(records, 'fault').filter(({ state }) => state !== 'injected');
  const witnesses = ofType(records, 'witness');
  return ofType(records, 'fault')
    .filter(({ state }) => state === 'injected')
    .map((record) =>
      readFault(
        record,
        ends.filter(({ lease }) => lease.id === record.lease.id),
        witnesses.filter(({ leaseId }) => leaseId === record.lease.id),
      ),
    );
}

function readFault(
  { step, lease, at, ms }: FaultRecord,
  ends: readonly FaultRecord[],
  witnesses: readonly WitnessRecord[],
): FaultReport {
  const end = ends.at(-1);
  // A pending witness is followed by another one, once what it waits for has happened.
  const witness = witnesses.at(-1);
  return {
    step,
    leaseId: lease.id,
    fault: lease.fault,
    target: lease.target,
    parameters: parametersText(lease),
    injectedMs: Math.max(0, ms - msSinceBegin(lease, new Date(at))),
    revertedMs: end?.state === 'reverted' ? end.ms : undefined,
    revertEvidence: end?.evidence ?? '',
    notReverted: end?.state === 'undo_failed',
    witness,
  };
}

/** With units; as the journal has them when this version does not know the fault. */
function parametersText({ fault, parameters }: FaultRecord['lease']): string {
  const known = knownFaults.find(({ name }) => name === fault);
  return known === undefined ? pairsText(parameters) : writeParameters(known.parameters, parameters);
}

function readSample({ ms, values, gap = '' }: SampleRecord): SampleReport {
  return { ms, pending: values.pending, waiting: values.waiting, breakers: values.breakers ?? {}, gap };
}

function readEvent({ ms, event, edge, target, count, details }: EventRecord): TimedEvent {
  const words = [edge, target, count === undefined ? undefined : `×${count}`, details];
  return { ms, event, details: words.filter((word) => word !== undefined).join(' ') };
}

function readCondition({ type, condition, verdict, count, evidence }: ConditionRecord): ConditionReport {
  return { kind: type, condition: conditionText(condition), verdict, count, evidence };
}

/** What a journal without a verdict says nevertheless. */
function reasonsSoFar(faults: readonly FaultReport[], steps: readonly StepReport[]): string[] {
  const left = faults.filter(({ revertedMs }) => revertedMs === undefined);
  const bad = steps.filter(({ verdict }) => verdict === 'fail' || verdict === 'unknown');
  return [
    ...left.map(({ fault, target }) => `the journal does not say that ${fault} of ${target} was reverted`),
    ...bad.map(({ name, verdict, observed }) => `${name}: ${verdict}, ${observed}`),
  ];
}

function clocksSoFar(faults: readonly FaultReport[]): Clocks {
  const seen = faults
    .filter(({ witness }) => witness?.verdict === 'observed')
    .flatMap(({ witness }) => witness?.ms ?? []);
  const reverted = faults.flatMap(({ revertedMs }) => revertedMs ?? []);
  return {
    ...(faults.length > 0 ? { injectedMs: Math.min(...faults.map(({ injectedMs }) => injectedMs)) } : {}),
    ...(seen.length > 0 ? { witnessedMs: Math.min(...seen) } : {}),
    ...(reverted.length > 0 && reverted.length === faults.length ? { revertedMs: Math.max(...reverted) } : {}),
  };
}

/** `breaker.open, edge orders-payments`. */
function conditionText({ event, ...rest }: { readonly event: string; readonly [key: string]: unknown }): string {
  const limits = pairsText(rest);
  return limits === '' ? event : `${event}, ${limits}`;
}
