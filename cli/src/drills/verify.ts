import type { Scenario } from './format/schema.ts';
import { brokenLink } from './journal/chain.ts';
import type { ReadDrillJournal } from './journal/journal-file.ts';
import { recordsOf } from './journal/records.ts';
import { checkEnvelope, commitmentOf } from './seal/envelope.ts';

/** One thing that was verified of a journal. */
export interface Finding {
  readonly name: 'chain' | 'end' | 'commitment' | 'draw';
  readonly verdict: 'pass' | 'fail' | 'unknown';
  readonly evidence: string;
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
  if (broken !== undefined) return { name: 'chain', verdict: 'fail', evidence: broken.why };
  return { name: 'chain', verdict: 'pass', evidence: `${records.length} records, the last is ${records.at(-1)?.hash}` };
}

function endOf({ records, isTorn }: ReadDrillJournal): Finding {
  const last = records.at(-1);
  if (last?.type === 'closed' && last.records === records.length && !isTorn) {
    return { name: 'end', verdict: 'pass', evidence: `it was closed with ${last.records} records` };
  }
  const evidence = isTorn ? 'the last record is cut off' : 'it was not closed: records may be missing at its end';
  return { name: 'end', verdict: 'fail', evidence };
}

function commitmentIn(records: ReadDrillJournal['records']): Finding {
  const stated = recordsOf(records, 'start')[0]?.commitment;
  const envelope = recordsOf(records, 'reveal')[0]?.envelope;
  if (stated === undefined || envelope === undefined) {
    return { name: 'commitment', verdict: 'unknown', evidence: 'the round was not revealed' };
  }
  const computed = commitmentOf(envelope);
  if (computed === stated) return { name: 'commitment', verdict: 'pass', evidence: `the envelope has ${computed}` };
  const evidence = `${stated} was stated at the start, the envelope has ${computed}`;
  return { name: 'commitment', verdict: 'fail', evidence };
}

function drawOf(records: ReadDrillJournal['records'], scenarios: readonly Scenario[]): Finding {
  const envelope = recordsOf(records, 'reveal')[0]?.envelope;
  if (envelope === undefined) return { name: 'draw', verdict: 'unknown', evidence: 'the round was not revealed' };
  const problems = checkEnvelope(envelope, scenarios);
  if (problems.length === 0) {
    const evidence = `seed ${envelope.seed} draws ${envelope.scenario.id} at level ${envelope.level}`;
    return { name: 'draw', verdict: 'pass', evidence };
  }
  const isOtherCatalog = problems.some((problem) => problem.startsWith('the scenarios differ'));
  return { name: 'draw', verdict: isOtherCatalog ? 'unknown' : 'fail', evidence: problems.join('; ') };
}
