import type { ScenarioName } from '../../../scenarios/lib/scenarios.ts';
import type { AuditReport } from '../audit/audit.ts';
import type { LoadCheck, LoadVerdict } from './checks.ts';
import type { RunFault } from './fault-window.ts';
import type { Knee } from './knee.ts';
import type { Measured, MeasuredPhase } from './measured.ts';
import type { SampledTrace } from './trace-sample.ts';
import type { MachineUsage, Usage } from './usage.ts';

/** A finished run, as `--json` prints it. Times in ms unless a name says otherwise; what could not be measured is null. */
export interface LoadResult {
  readonly scenario: ScenarioName;
  /** Every order of the run has an Idempotency-Key that begins with it. */
  readonly runId: string;
  readonly verdict: LoadVerdict;
  readonly exitCode: number;
  readonly settings: {
    /** Orders a second; null where users wait for their responses. */
    readonly rate: number | null;
    readonly durationS: number;
    readonly vus: number;
    readonly seed: number;
  };
  /** ISO time of the first order. */
  readonly startedAt: string;
  readonly tookMs: number;
  readonly orders: Measured;
  readonly phases: readonly MeasuredPhase[];
  readonly outbox: {
    /** The most events that waited at one look a second. */
    readonly peak: number | null;
    /** From the end of the load until nothing waited. */
    readonly drainMs: number | null;
  };
  /** How many sagas of the run ended how, as the orders database has it: `Confirmed`, `Cancelled: out of stock`, `open: Compensating`. */
  readonly sagas: Readonly<Record<string, number>> | null;
  readonly usage: {
    readonly machine: MachineUsage;
    readonly processes: readonly (Usage & { readonly cpuMsPerRequest: number })[];
  } | null;
  /** Of a ramp. */
  readonly knee: (Knee & { readonly busiest: readonly string[] }) | null;
  readonly faults: readonly RunFault[];
  readonly traces: readonly SampledTrace[];
  readonly audit: AuditReport | null;
  readonly checks: readonly LoadCheck[];
  /** What this scenario is checked by where there is enough of it, and why there was not. No reason against a pass. */
  readonly notChecked: readonly string[];
  /** Faults that were not reverted; empty unless the verdict is `dirty`. */
  readonly notReverted: readonly string[];
  /** Parts that could not be read for a while. */
  readonly gaps: readonly string[];
}
