import { createFakeClock } from '../../../shared/testing/fake-clock.ts';
import type { Probe, ResolvedExperiment, Step } from '../../format/schema.ts';
import type { Journal } from '../../journal.ts';
import type { NewRecord } from '../../journal-records.ts';
import { type EnginePorts, type RunResult, runExperiment } from '../engine.ts';
import type { ExecutableStep } from '../execute.ts';
import type { Finding } from '../findings.ts';
import type { StepResult } from '../step-result.ts';

/** What the fakes of one run return; everything holds unless said otherwise. */
export interface FakeRun {
  readonly method?: readonly Step[];
  readonly steady?: readonly Probe[];
  readonly recovery?: readonly Probe[];
  /** Steps whose end later ones refer to. */
  readonly referredTo?: readonly string[];
  /** What a step comes to at its n-th look, from 1. */
  readonly result?: (step: string, look: number) => StepResult | Error;
  /** The run is interrupted when this step is carried out. */
  readonly interruptAt?: string;
  /** The supervisor is lost when this step is carried out, or during the audit. */
  readonly lostAt?: string;
  /** Why the journal could not be written. */
  readonly journalProblem?: string;
  /** The budget ends when this step is carried out, or during the audit. */
  readonly overAt?: string;
  readonly pending?: readonly (StepResult & { readonly step: string })[];
  /** Loads that went on until the method was over. */
  readonly loads?: readonly (StepResult & { readonly step: string })[];
  readonly notReverted?: readonly string[];
  /** What is said of a method without a fault in effect. */
  readonly faults?: readonly Finding[];
  readonly conditions?: readonly Finding[];
  readonly audit?: readonly Finding[] | Error;
}

export interface FakeOutcome extends RunResult {
  readonly records: readonly NewRecord[];
  readonly calls: readonly string[];
}

const PASSED: StepResult = { verdict: 'pass' };

/** A probe of a kind that the engine does not care about. */
export function aProbe(name: string, more: object = {}): Probe {
  return {
    name,
    type: 'probe',
    provider: { type: 'ready', target: 'all' },
    tolerance: true,
    ...more,
  } as unknown as Probe;
}

export function aFault(name: string, more: object = {}): Step {
  const provider = { type: 'fault', fault: 'latency', target: 'orders-payments', parameters: {} };
  return { name, type: 'action', provider, witness: { within: 5_000 }, ...more } as unknown as Step;
}

export function aJoin(name: string, of: string): Step {
  return { name, type: 'action', provider: { type: 'join', of }, stop: false } as unknown as Step;
}

/** Runs the engine with fakes for all that it has done for it. */
export async function runFake(fake: FakeRun): Promise<FakeOutcome> {
  const records: NewRecord[] = [];
  const calls: string[] = [];
  const interruption = new AbortController();
  const budget = new AbortController();
  const loss = new AbortController();
  const run = AbortSignal.any([interruption.signal, loss.signal, budget.signal]);
  const journal: Journal = {
    write: (record) => void records.push(record),
    sync: async () => undefined,
    close: async () => undefined,
    problem: () => fake.journalProblem,
  };
  const looks = new Map<string, number>();
  const ports: EnginePorts = {
    clock: createFakeClock(),
    journal,
    async execute(step: ExecutableStep) {
      calls.push(step.name);
      if (step.name === fake.interruptAt) interruption.abort(new Error('interrupted'));
      if (step.name === fake.overAt) budget.abort(new Error('the budget is over'));
      if (step.name === fake.lostAt) loss.abort(new Error('the supervisor was lost'));
      // A probe may have seen the end of the platform before it is reported.
      if (step.name !== fake.lostAt) run.throwIfAborted();
      const look = (looks.get(step.name) ?? 0) + 1;
      looks.set(step.name, look);
      const result = fake.result?.(step.name, look) ?? PASSED;
      if (result instanceof Error) throw result;
      return result;
    },
    waitsInternally: () => false,
    captureBaseline: async (step) => void calls.push(`baseline ${step}`),
    isReferredTo: (step) => fake.referredTo?.includes(step) ?? false,
    joinLoad: () => undefined,
    async endLoads() {
      calls.push('end loads');
      return fake.loads ?? [];
    },
    checkPending: async () => fake.pending ?? [],
    async revertAll() {
      calls.push('revert all');
      return fake.notReverted ?? [];
    },
    checkFaults: () => fake.faults ?? [],
    async checkConditions() {
      calls.push('conditions');
      return fake.conditions ?? [];
    },
    async audit() {
      calls.push('audit');
      if (fake.overAt === 'audit') budget.abort(new Error('the budget is over'));
      if (fake.lostAt === 'audit') loss.abort(new Error('the supervisor was lost'));
      if (fake.audit instanceof Error) throw fake.audit;
      return fake.audit ?? [];
    },
    onEvent: () => undefined,
  };
  const experiment = {
    id: 'T1',
    'steady-state-hypothesis': { title: 'steady', probes: fake.steady ?? [aProbe('steady')] },
    method: fake.method ?? [aFault('fault'), aProbe('probe')],
    recovery: fake.recovery ?? [],
  } as unknown as ResolvedExperiment;
  const signals = { interrupted: interruption.signal, lost: loss.signal, run };
  return { ...(await runExperiment(experiment, ports, signals)), records, calls };
}
