import type { Phase, Scenario, Settings } from '../../../scenarios/lib/scenarios.ts';
import type { WrittenFault } from '../chaos/written-fault.ts';

/** What a run is, decided before anything happens. */
export interface Plan {
  readonly scenario: Scenario;
  readonly settings: Settings;
  readonly phases: readonly Phase[];
  readonly faults: readonly WrittenFault[];
  readonly seed: number;
  readonly runId: string;
  readonly tracesWanted: number;
  /** Absolute. */
  readonly htmlFile: string | undefined;
}
