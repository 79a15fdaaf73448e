import type { RunClock } from '../../shared/clock.ts';
import { type RunVerdict, type Verdict, worst } from '../../shared/verdict.ts';
import type { Probe, ResolvedExperiment, Step } from '../format/schema.ts';
import type { Journal } from '../journal.ts';
import type { PhaseName } from '../journal-records.ts';
import type { ExecutableStep } from './execute.ts';
import { check, type Finding } from './findings.ts';
import { pollProbe, type Repeated } from './poll-probe.ts';
import { type StepResult, unknown } from './step-result.ts';

/*
 * The interpreter of experiments. It decides what is done in which order and what the whole comes to; its
 * ports do it. Invariants.
 * E1: Whatever fails where, `revertAll` is called once the method has ended, and its word decides whether the run is dirty.
 * E2: Every step that began has an end in the journal, but for a kill of this process.
 * E3: Only `pass` of every step makes a pass. Missing evidence, a witness that observed nothing and a condition that was not
 *    reached are findings, as is a step that could not be carried out.
 * E4: The verdict is the worst finding.
 * E5: An interrupted run measures nothing further; nor does one whose platform has lost its supervisor.
 * E6: The probes of the steady state are of one moment, so they look concurrently. One that places orders, or that a later one
 *    refers to, has ended before the next one begins, and begins when those before it have ended.
 */

/** What the engine has done for it. */
export interface EnginePorts {
  readonly clock: RunClock;
  readonly journal: Journal;
  /** Rejects only when the signal of the run has aborted. */
  execute(step: ExecutableStep): Promise<StepResult>;
  /** Waits on its own: `execute` is not repeated within `within`. */
  waitsInternally(step: ExecutableStep): boolean;
  /** Notes a moment that later steps refer to. */
  captureBaseline(step: string): Promise<void>;
  /** Whether later steps refer to the end of this one. */
  isReferredTo(step: string): boolean;
  /** Joins a load; undefined when the step is none. */
  joinLoad(step: string): Promise<StepResult> | undefined;
  /**
   * Stops what still goes on beside the steps and resolves when it is over, with the loads that no step has evaluated.
   */
  endLoads(): Promise<readonly (StepResult & { readonly step: string })[]>;
  /** Witnesses that waited for something to happen, now that the method is over. */
  checkPending(): Promise<readonly (StepResult & { readonly step: string })[]>;
  /** Resolves with faults that could not be reverted; never rejects. */
  revertAll(): Promise<readonly string[]>;
  /** What speaks against a pass where none of the declared faults was ever in effect. */
  checkFaults(): readonly Finding[];
  /** Journals reach and never conditions and resolves with what speaks against a pass. */
  checkConditions(): Promise<readonly Finding[]>;
  /** Journals the audit and resolves with what speaks against a pass. */
  audit(): Promise<readonly Finding[]>;
  /** A line of progress for the user. */
  onEvent(event: EngineEvent): void;
}

export type EngineEvent =
  | { readonly type: 'phase'; readonly phase: PhaseName }
  /** Something to know about the run, outside it. */
  | { readonly type: 'remark'; readonly text: string }
  | { readonly type: 'step'; readonly name: string }
  | { readonly type: 'stepEnd'; readonly name: string; readonly result: Repeated; readonly tookMs: number };

/** Why a run was asked to stop. */
export interface StopSignals {
  /** Ctrl-C and the like. */
  readonly interrupted: AbortSignal;
  /**
   * The supervisor ended or was lost; the reason says how. What is observed from then on is not the shop's behaviour.
   */
  readonly lost: AbortSignal;
  /** Interrupted, lost, or the budget is over. */
  readonly run: AbortSignal;
}

export interface RunResult {
  readonly verdict: RunVerdict;
  readonly reasons: readonly string[];
  readonly steadyAt: number | undefined;
}

interface Background {
  readonly step: Step;
  readonly index: number;
  readonly beganAt: number;
  readonly result: Promise<Repeated>;
}

export async function runExperiment(
  experiment: ResolvedExperiment,
  ports: EnginePorts,
  signals: StopSignals,
): Promise<RunResult> {
  return new ExperimentRun(experiment, ports, signals).run();
}

class ExperimentRun {
  readonly #experiment: ResolvedExperiment;
  readonly #ports: EnginePorts;
  readonly #signals: StopSignals;
  readonly #findings: Finding[] = [];
  readonly #background = new Map<string, Background>();
  #where = 'its beginning';
  #steadyAt: number | undefined;
  /** From then on the budget is of no concern: the audit has its own limit. */
  #isAudited = false;

  constructor(experiment: ResolvedExperiment, ports: EnginePorts, signals: StopSignals) {
    this.#experiment = experiment;
    this.#ports = ports;
    this.#signals = signals;
  }

  async run(): Promise<RunResult> {
    const hypothesis = this.#experiment['steady-state-hypothesis'];
    const wasSteady = await this.#phase('steady-before', () => this.#steady('steady-before', hypothesis.probes));
    if (wasSteady === 'pass') await this.#phase('method', () => this.#method());
    else if (wasSteady !== undefined)
      this.#findings.push({ verdict: 'unknown', reason: 'the system never was steady' });
    const isClean = await this.#revert();
    if (wasSteady === 'pass' && isClean) await this.#after(hypothesis.probes);
    if (wasSteady === 'pass' && !this.#signals.interrupted.aborted) this.#findings.push(...this.#ports.checkFaults());
    const problem = this.#ports.journal.problem();
    if (problem !== undefined) {
      this.#findings.push({ verdict: 'unknown', reason: `the journal could not be written: ${problem}` });
    }
    if (this.#signals.interrupted.aborted) {
      this.#findings.push({
        verdict: 'interrupted',
        reason: `interrupted during ${this.#where}; every fault was reverted`,
      });
    } else if (this.#signals.lost.aborted) {
      const why = (this.#signals.lost.reason as Error).message;
      this.#findings.push({ verdict: 'unknown', reason: `${why}, during ${this.#where}` });
    } else if (this.#signals.run.aborted && !this.#isAudited) {
      this.#findings.push({ verdict: 'unknown', reason: `the budget was over during ${this.#where}` });
    }
    return { ...check(this.#findings), steadyAt: this.#steadyAt };
  }

  async #after(hypothesis: readonly Probe[]): Promise<void> {
    await this.#phase('recovery', () => this.#probes('recovery', this.#experiment.recovery));
    await this.#phase('steady-after', async () => {
      const verdict = await this.#steady('steady-after', hypothesis);
      if (verdict === 'pass') this.#steadyAt = this.#ports.clock.now();
      await this.#guarded('conditions', this.#signals.run, () => this.#ports.checkConditions());
      return verdict;
    });
    await this.#phase('audit', async () => {
      this.#isAudited = true;
      await this.#guarded('the audit', this.#signals.interrupted, () => this.#audit());
      return undefined;
    });
  }

  /** What an audit says of a platform that was lost meanwhile is not a finding. */
  async #audit(): Promise<readonly Finding[]> {
    const findings = await this.#ports.audit();
    return this.#signals.lost.aborted ? [] : findings;
  }

  async #guarded(what: string, signal: AbortSignal, work: () => Promise<readonly Finding[]>): Promise<void> {
    try {
      this.#findings.push(...(await work()));
    } catch (error) {
      signal.throwIfAborted();
      this.#findings.push({ verdict: 'unknown', reason: `${what}: ${(error as Error).message}` });
    }
  }

  /** Undefined when the phase did not take place, or was cut short. */
  async #phase(phase: PhaseName, work: () => Promise<Verdict | undefined>): Promise<Verdict | undefined> {
    const { journal, onEvent } = this.#ports;
    if (this.#signals.run.aborted) return undefined;
    this.#where = phase;
    onEvent({ type: 'phase', phase });
    journal.write({ type: 'phase', phase, state: 'begin' });
    let verdict: Verdict | undefined;
    try {
      verdict = await work();
    } catch (error) {
      if (!this.#signals.run.aborted) {
        // A defect of ours or of a port: what it would have shown is not known.
        this.#findings.push({ verdict: 'unknown', reason: `${phase} broke off: ${(error as Error).message}` });
      }
    }
    journal.write({ type: 'phase', phase, state: 'end', ...(verdict !== undefined && { verdict }) });
    await journal.sync();
    return verdict;
  }

  async #probes(phase: PhaseName, probes: readonly Probe[]): Promise<Verdict> {
    const verdicts: Verdict[] = [];
    for (const [index, probe] of probes.entries()) verdicts.push((await this.#step(phase, index, probe)).verdict);
    return worst(verdicts);
  }

  /** E6. E2 holds also when one of them breaks off. */
  async #steady(phase: PhaseName, probes: readonly Probe[]): Promise<Verdict> {
    const verdicts: Verdict[] = [];
    for (const group of this.#concurrent(probes)) {
      const looks = await Promise.allSettled(group.map(({ index, probe }) => this.#step(phase, index, probe)));
      for (const look of looks) {
        if (look.status === 'rejected') throw look.reason;
        verdicts.push(look.value.verdict);
      }
    }
    return worst(verdicts);
  }

  /** Groups of probes that look concurrently, one group after the other. */
  #concurrent(probes: readonly Probe[]): readonly (readonly { index: number; probe: Probe }[])[] {
    const groups: { index: number; probe: Probe }[][] = [[]];
    for (const [index, probe] of probes.entries()) {
      const isAwaited = probe.provider.type === 'orders' || this.#ports.isReferredTo(probe.name);
      if (isAwaited) groups.push([{ index, probe }], []);
      else groups.at(-1)?.push({ index, probe });
    }
    return groups;
  }

  async #method(): Promise<Verdict> {
    const verdicts: Verdict[] = [];
    try {
      for (const [index, step] of this.#experiment.method.entries()) {
        const { verdict } = await this.#step('method', index, step);
        verdicts.push(verdict);
        if (verdict !== 'pass' && step.type !== 'hold' && step.stop) break;
      }
    } catch (error) {
      await this.#cutShort();
      throw error;
    }
    const loads = await this.#ports.endLoads();
    for (const name of [...this.#background.keys()]) verdicts.push((await this.#join(name)).verdict);
    for (const late of [...loads, ...(await this.#ports.checkPending())]) {
      verdicts.push(late.verdict);
      this.#find('method', late.step, late);
    }
    return worst(verdicts);
  }

  /** What goes on beside a method that broke off must be over, and journaled (E2), before anything is concluded. */
  async #cutShort(): Promise<void> {
    await this.#ports.endLoads();
    for (const background of this.#background.values()) {
      // How it ended is in the journal; why the method broke off is reported by the caller.
      await this.#ended('method', background).catch(() => undefined);
    }
    this.#background.clear();
  }

  async #step(phase: PhaseName, index: number, step: Step): Promise<Repeated> {
    const { clock, journal, onEvent } = this.#ports;
    this.#signals.run.throwIfAborted();
    this.#where = `"${step.name}"`;
    onEvent({ type: 'step', name: step.name });
    const provider = step.type === 'hold' ? 'hold' : step.provider.type;
    journal.write({ type: 'step', phase, index, name: step.name, kind: step.type, provider, state: 'begin' });
    const beganAt = clock.now();
    const result = this.#carryOut(step);
    if (step.type !== 'hold' && 'background' in step && step.background) {
      // Its failure is met where it is joined.
      result.catch(() => undefined);
      this.#background.set(step.name, { step, index, beganAt, result });
      return { verdict: 'pass', attempts: 0 };
    }
    return this.#ended(phase, { step, index, beganAt, result });
  }

  /** E2: also of a step that was cut short. */
  async #ended(phase: PhaseName, { step, index, beganAt, result }: Background): Promise<Repeated> {
    const { clock, journal, onEvent } = this.#ports;
    const provider = step.type === 'hold' ? 'hold' : step.provider.type;
    const end = (came: Repeated) => {
      const tookMs = Math.round(clock.now() - beganAt);
      const { verdict, attempts, ...rest } = came;
      const written = Object.fromEntries(
        Object.entries(rest).filter(([, value]) => value !== undefined && value !== ''),
      );
      const common = { type: 'step', phase, index, name: step.name, kind: step.type, provider, state: 'end' } as const;
      journal.write({ ...common, verdict, attempts, tookMs, ...written });
      onEvent({ type: 'stepEnd', name: step.name, result: came, tookMs });
    };
    let came: Repeated;
    try {
      came = await result;
    } catch (error) {
      end({ ...unknown(this.#signals.run.aborted ? 'cut short' : (error as Error).message), attempts: 1 });
      throw error;
    }
    end(came);
    this.#find(phase, step.name, came);
    if (this.#ports.isReferredTo(step.name)) await this.#ports.captureBaseline(step.name);
    return came;
  }

  #find(phase: PhaseName, name: string, { verdict: found, expected, observed }: StepResult): void {
    if (found === 'pass') return;
    // A system that was not steady to begin with says nothing about the fault, and one without its supervisor nothing at all.
    const verdict = phase === 'steady-before' || this.#signals.lost.aborted ? 'unknown' : found;
    const wanted = expected === undefined ? '' : `, expected ${expected}`;
    this.#findings.push({ verdict, reason: `"${name}": ${observed ?? found}${wanted}` });
  }

  async #carryOut(step: Step): Promise<Repeated> {
    const { clock, execute, waitsInternally, joinLoad } = this.#ports;
    const signal = this.#signals.run;
    if (step.type === 'hold') {
      await clock.sleep(step.for, signal);
      return { verdict: 'pass', observed: `${step.for} ms`, attempts: 1 };
    }
    if (step.provider.type === 'join') {
      const load = joinLoad(step.provider.of);
      return load === undefined ? this.#join(step.provider.of) : { ...(await load), attempts: 1 };
    }
    const executable = step as ExecutableStep;
    if (step.type === 'action' || waitsInternally(executable)) return { ...(await execute(executable)), attempts: 1 };
    return pollProbe(() => execute(executable), { within: step.within, for: step.for }, clock, signal);
  }

  async #join(name: string): Promise<Repeated> {
    const background = this.#background.get(name);
    if (background === undefined) return { ...unknown(`"${name}" does not go on in the background`), attempts: 1 };
    this.#background.delete(name);
    const result = await this.#ended('method', background);
    // The step has reported its own finding; joining it only says when.
    return { verdict: 'pass', observed: `"${name}": ${result.verdict}`, attempts: 1 };
  }

  /** E1. True when nothing is left. */
  async #revert(): Promise<boolean> {
    const { journal, revertAll, onEvent } = this.#ports;
    onEvent({ type: 'phase', phase: 'revert' });
    journal.write({ type: 'phase', phase: 'revert', state: 'begin' });
    const notReverted = await revertAll().catch((error: unknown) => [
      `the revert broke off: ${(error as Error).message}`,
    ]);
    for (const reason of notReverted) this.#findings.push({ verdict: 'dirty', reason });
    journal.write({
      type: 'phase',
      phase: 'revert',
      state: 'end',
      verdict: notReverted.length === 0 ? 'pass' : 'fail',
    });
    await journal.sync();
    return notReverted.length === 0;
  }
}
