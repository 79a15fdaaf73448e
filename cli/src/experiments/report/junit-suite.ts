import type { JunitCase, JunitSuite } from '../../output/junit.ts';
import { violationText } from '../../report/words.ts';
import type { AuditedInvariant, JournalRecord } from '../journal-records.ts';
import { readRun } from './read-run.ts';
import {
  type ConditionReport,
  type FaultReport,
  type RunReport,
  type StepReport,
  VERDICT_WORDS,
} from './run-report.ts';

/**
 * A run as a suite of JUnit: a testcase per probe, witness, reach, never and invariant, and one for the verdict. That one
 * also fails when nothing else can: a run that was killed, a fault that was not reverted.
 */
export function suiteOfRun(records: readonly JournalRecord[]): JunitSuite {
  const report = readRun(records);
  const { experiment, runId, seed, startedAt, endMs } = report;
  return {
    name: `${experiment.id}: ${experiment.title}`,
    startedAt: startedAt ?? new Date(0),
    tookMs: endMs,
    properties: {
      runId,
      ...(seed === undefined ? {} : { seed: String(seed) }),
      verdict: report.verdict,
      ...(report.seededBugs.length === 0 ? {} : { seededBugs: report.seededBugs.join(',') }),
    },
    classname: experiment.id,
    cases: [
      ...report.steps.filter(isCase).map((step) => stepCase(step)),
      ...report.faults.map(witnessCase),
      ...report.conditions.map(conditionCase),
      ...(report.audit?.invariants ?? []).map(invariantCase),
      verdictCase(report),
    ],
  };
}

/** Every probe; of actions and holds only those that have something to say. */
function isCase({ kind, verdict }: StepReport): boolean {
  return kind === 'probe' || verdict !== 'pass';
}

function stepCase({
  phase,
  name,
  verdict = 'unknown',
  expected,
  observed,
  evidence,
  traceIds,
  beginMs,
  endMs,
}: StepReport): JunitCase {
  const lines = [
    expected === '' ? '' : `expected: ${expected}`,
    observed === '' ? '' : `observed: ${observed}`,
    evidence,
    ...(traceIds.length > 0 ? [`traces: ${traceIds.join(' ')}`] : []),
  ];
  return {
    group: phase,
    name,
    verdict,
    evidence: endMs === undefined ? 'it has no end in the journal' : observed || evidence || verdict,
    details: lines.filter((line) => line !== '').join('\n'),
    tookMs: (endMs ?? beginMs) - beginMs,
  };
}

function witnessCase({ step, fault, target, witness, injectedMs }: FaultReport): JunitCase {
  return {
    group: 'witness',
    name: `${step}: ${fault} of ${target} is in effect`,
    verdict: witness?.verdict === 'observed' ? 'pass' : 'unknown',
    evidence: witness === undefined ? 'not observed' : `${witness.verdict}: ${witness.evidence}`,
    tookMs: (witness?.ms ?? injectedMs) - injectedMs,
  };
}

function conditionCase({ kind, condition, verdict, count, evidence }: ConditionReport): JunitCase {
  const times = count === undefined ? '' : `${count} times; `;
  return { group: kind, name: condition, verdict, evidence: `${times}${evidence}`, tookMs: 0 };
}

function invariantCase({ id, title, verdict, audited, evidence, violations, rule }: AuditedInvariant): JunitCase {
  const details = violations.map(violationText).join('\n');
  return {
    group: 'audit',
    id,
    name: title,
    verdict,
    evidence: `${audited}${rule === undefined ? '' : ` (${rule})`}: ${evidence}`,
    ...(details === '' ? {} : { details }),
    tookMs: 0,
  };
}

function verdictCase({ verdict, reasons, endMs }: RunReport): JunitCase {
  return {
    group: 'run',
    name: 'verdict',
    verdict: verdict === 'none' ? 'unknown' : verdict,
    evidence: [VERDICT_WORDS[verdict], ...reasons.slice(0, 1)].join(' '),
    details: [VERDICT_WORDS[verdict], ...reasons].join('\n'),
    tookMs: endMs,
  };
}
