import { isWithoutFailure, type Scenario } from '../format/schema.ts';
import { type DrillRecord, type RecordOf, recordsOf } from '../journal/records.ts';
import { isCure } from './actions.ts';
import { measuredOf, type Noticed, noticedBy, servedFrom } from './customers.ts';

/** When what happened, ms since the start; undefined for what did not. */
export interface Clocks {
  readonly injectedMs?: number;
  readonly witnessedMs?: number;
  /** Customers noticed, or the scenario's metric showed it. */
  readonly symptomMs?: number;
  readonly pageMs?: number;
  /** A page was acknowledged, or an incident declared. */
  readonly detectedMs?: number;
  readonly diagnosedMs?: number;
  readonly leverMs?: number;
  /** The first of the seconds in which customers are served again. */
  readonly recoveredMs?: number;
  readonly endMs: number;
}

/** A finished round, as its journal has it. */
export interface Round {
  readonly records: readonly DrillRecord[];
  readonly start: RecordOf<'start'>;
  readonly end: RecordOf<'end'>;
  readonly scenario: Scenario;
  readonly isWithoutFailure: boolean;
  readonly noticed: readonly Noticed[];
  readonly symptom: Noticed | undefined;
  readonly detected: RecordOf<'ack'> | RecordOf<'declare'> | undefined;
  readonly recovered: RecordOf<'second'> | undefined;
  readonly clocks: Clocks;
}

/** A round's facts from its journal; undefined when it has no end or was not revealed. Pure. */
export function roundOf(records: readonly DrillRecord[]): Round | undefined {
  const start = recordsOf(records, 'start')[0];
  const end = recordsOf(records, 'end')[0];
  const reveal = recordsOf(records, 'reveal')[0];
  if (start === undefined || end === undefined || reveal === undefined) return undefined;
  const { scenario } = reveal.envelope;
  const injectedMs = recordsOf(records, 'injected')[0]?.happenedMs;
  const begunMs = begunMsOf(records);
  const noticed = noticedBy(records, measuredOf(scenario, records));
  const symptom = noticed.find(({ second, outside }) => outside !== undefined && second.ms >= (injectedMs ?? Infinity));
  const detected = records.find(
    (record): record is RecordOf<'ack'> | RecordOf<'declare'> =>
      (record.type === 'ack' || record.type === 'declare') && record.ms >= begunMs,
  );
  const recovered = symptom && servedFrom(noticed, symptom.second.ms);
  const facts = { injectedMs, symptomMs: symptom?.second.ms, detectedMs: detected?.ms, recoveredMs: recovered?.ms };
  return {
    records,
    start,
    end,
    scenario,
    isWithoutFailure: isWithoutFailure(scenario),
    noticed,
    symptom,
    detected,
    recovered,
    clocks: { ...defined(facts), ...defined(others(records, scenario, begunMs)), endMs: end.ms },
  };
}

/** When the platform was steady; 0 before it was. Pure. */
export function steadyMsOf(records: readonly DrillRecord[]): number {
  return recordsOf(records, 'baseline')[0]?.ms ?? 0;
}

/** When the failure was begun, from when on it may be noticed; infinite where there is none. Pure. */
export function begunMsOf(records: readonly DrillRecord[]): number {
  const [injected] = recordsOf(records, 'injected');
  return injected?.beganMs ?? injected?.happenedMs ?? Infinity;
}

function others(records: readonly DrillRecord[], scenario: Scenario, begunMs: number) {
  const after = <T extends { readonly ms: number }>(all: readonly T[]) => all.filter(({ ms }) => ms >= begunMs);
  const isRight = ({ component, mechanism }: RecordOf<'blame'>) =>
    scenario.truths.some((truth) => truth.component === component && truth.mechanism === mechanism);
  return {
    witnessedMs: recordsOf(records, 'witnessed')[0]?.happenedMs,
    pageMs: after(recordsOf(records, 'page')).find(({ state }) => state === 'firing')?.ms,
    diagnosedMs: recordsOf(records, 'blame').find(isRight)?.ms,
    leverMs: after(recordsOf(records, 'action')).find((action) => isCure(action, scenario))?.ms,
  };
}

function defined<T extends object>(facts: T): { readonly [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as never;
}
