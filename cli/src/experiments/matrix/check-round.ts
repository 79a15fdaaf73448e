import type { RunVerdict } from '../../shared/verdict.ts';
import type { JournalRecord } from '../journal-records.ts';
import type { Boundary } from './boundaries.ts';
import { FAULT_STEP, heldStep, holdStep, orderStep, type RoundSpec } from './round-experiment.ts';

/** What is said of a cell. */
export interface CellVerdict {
  readonly verdict: RunVerdict;
  /** Why it is not a pass. */
  readonly reason: string;
}

/** What a run said, and what that says of each of its boundaries. */
export interface CheckedRound {
  readonly verdict: RunVerdict;
  readonly reasons: readonly string[];
  readonly cells: ReadonlyMap<Boundary, CellVerdict>;
}

/** How a run ended. */
interface RoundRun {
  readonly verdict: RunVerdict;
  readonly reasons: readonly string[];
}

/**
 * Reads a round's journal. What is wrong with one boundary alone makes only its own cell unknown: its order did not
 * come, or had gone on before the fault was there. Everything else is said of all, until shrinking finds out more.
 */
export function checkRound(
  spec: RoundSpec,
  records: readonly JournalRecord[],
  { verdict, reasons }: RoundRun,
): CheckedRound {
  const common = reasons.filter((reason) => !spec.boundaries.some((boundary) => isOf(boundary, reason)));
  const ofAll = commonVerdict(spec, records, { verdict, reasons: common });
  const check = (boundary: Boundary): CellVerdict => {
    if (ofAll !== 'pass') return { verdict: ofAll, reason: common[0] ?? '' };
    const reason = reasons.find((one) => isOf(boundary, one)) ?? tooLate(spec, boundary, records);
    return reason === undefined ? { verdict: 'pass', reason: '' } : { verdict: 'unknown', reason };
  };
  const cells = new Map(spec.boundaries.map((boundary) => [boundary, check(boundary)]));
  if (ofAll !== 'pass') return { verdict: ofAll, reasons: common, cells };
  const own = [...cells.values()].filter((cell) => cell.verdict !== 'pass').map(({ reason }) => reason);
  return { verdict: own.length === 0 ? 'pass' : 'unknown', reasons: own, cells };
}

function isOf(boundary: Boundary, reason: string): boolean {
  return [holdStep(boundary), heldStep(boundary)].some((step) => reason.startsWith(`"${step}"`));
}

/** The run's verdict without what is one boundary's own: that its order did not come is not a failure of the system. */
function commonVerdict(
  { boundaries }: RoundSpec,
  records: readonly JournalRecord[],
  { verdict, reasons }: RoundRun,
): RunVerdict {
  if (reasons.length === 0) return 'pass';
  if (verdict !== 'fail') return verdict;
  const own = new Set(boundaries.flatMap((boundary) => [holdStep(boundary), heldStep(boundary)]));
  return records.some((one) => isFailure(one, own)) ? 'fail' : 'unknown';
}

function isFailure(record: JournalRecord, own: ReadonlySet<string>): boolean {
  switch (record.type) {
    case 'step':
      return record.verdict === 'fail' && record.phase !== 'steady-before' && !own.has(record.name);
    case 'never':
      return record.verdict === 'fail';
    case 'audit':
      return record.invariants.some(({ verdict }) => verdict === 'fail');
    default:
      return false;
  }
}

/**
 * Undefined when the order was surely held still when the fault came. It cannot have come to its boundary before the first
 * order of the round was sent, and is held that long from then on at least.
 */
function tooLate({ row, boundaries }: RoundSpec, boundary: Boundary, records: readonly JournalRecord[]) {
  if (row === undefined) return undefined;
  const steps = new Set(boundaries.map(orderStep));
  const sentAt = records.find((one) => one.type === 'order' && one.state === 'invoke' && steps.has(one.step))?.ms;
  const faultAt = records.find((one) => isInjection(one, row.fault.kind === 'process'))?.ms;
  if (sentAt === undefined || faultAt === undefined) return 'the journal does not show when the fault was in effect';
  const afterMs = faultAt - sentAt;
  if (afterMs < boundary.holdMs) return undefined;
  return `the fault came ${Math.round(afterMs)} ms after the order, which is held for ${boundary.holdMs} ms`;
}

/**
 * A signal is there immediately, though a process may take long to end; everything else is there when that was
 * reported.
 */
function isInjection(record: JournalRecord, isSignal: boolean): boolean {
  if (isSignal) return record.type === 'step' && record.name === FAULT_STEP && record.state === 'begin';
  return record.type === 'fault' && record.step === FAULT_STEP && record.state === 'injected';
}
