import type { CheckResult, Verdict } from '../shared/verdict.ts';
import type { Scenario } from './format/schema.ts';
import { brokenLink } from './journal/chain.ts';
import type { ReadDrillJournal } from './journal/journal-file.ts';
import { recordsOf } from './journal/records.ts';
import { checkEnvelope, commitmentOf } from './seal/envelope.ts';

/** One thing that a journal claims. */
export type Finding = CheckResult<Verdict> & { readonly id: 'chain' | 'end' | 'commitment' | 'draw' };

const NAMES = {
  chain: 'each record continues the one before it',
  end: 'no record is missing at the end',
  commitment: 'the envelope is the one of the start',
  draw: 'the round is the one that its seed draws',
} as const;

function finding(id: keyof typeof NAMES, verdict: Verdict, evidence: string): Finding {
  return { id, name: NAMES[id], verdict, evidence };
}

/** Recomputes everything that a journal claims. `draw` is unknown where the clone has other scenarios than the round had. Pure. */
export function verifyJournal(
  { records, isTorn }: ReadDrillJournal,
  scenarios: readonly Scenario[],
): readonly Finding[] {
  return [chainOf({ records, isTorn }), endOf({ records, isTorn }), commitmentIn(records), drawOf(records, scenarios)];
}

function chainOf({ records }: ReadDrillJournal): Finding {
  const broken = brokenLink(records);
  if (broken !== undefined) return finding('chain', 'fail', broken.why);
  return finding('chain', 'pass', `${records.length} records, the last is ${records.at(-1)?.hash}`);
}

function endOf({ records, isTorn }: ReadDrillJournal): Finding {
  const last = records.at(-1);
  if (last?.type === 'closed' && last.records === records.length && !isTorn) {
    return finding('end', 'pass', `it was closed with ${last.records} records`);
  }
  const evidence = isTorn ? 'the last record is cut off' : 'it was not closed: records may be missing at its end';
  return finding('end', 'fail', evidence);
}

function commitmentIn(records: ReadDrillJournal['records']): Finding {
  const stated = recordsOf(records, 'start')[0]?.commitment;
  const envelope = recordsOf(records, 'reveal')[0]?.envelope;
  if (stated === undefined || envelope === undefined) {
    return finding('commitment', 'unknown', 'the round was not revealed');
  }
  const computed = commitmentOf(envelope);
  if (computed === stated) return finding('commitment', 'pass', `the envelope has ${computed}`);
  const evidence = `${stated} was stated at the start, the envelope has ${computed}`;
  return finding('commitment', 'fail', evidence);
}

function drawOf(records: ReadDrillJournal['records'], scenarios: readonly Scenario[]): Finding {
  const envelope = recordsOf(records, 'reveal')[0]?.envelope;
  if (envelope === undefined) return finding('draw', 'unknown', 'the round was not revealed');
  const problems = checkEnvelope(envelope, scenarios);
  if (problems.length === 0) {
    const evidence = `seed ${envelope.seed} draws ${envelope.scenario.id} at level ${envelope.level}`;
    return finding('draw', 'pass', evidence);
  }
  const isOtherCatalog = problems.some((problem) => problem.startsWith('the scenarios differ'));
  return finding('draw', isOtherCatalog ? 'unknown' : 'fail', problems.join('; '));
}
