import type { OrderRecord } from '../../../scenarios/lib/record.ts';
import type { FaultWindow } from './fault-window.ts';
import type { K6Summary } from './k6-summary.ts';
import type { Observer } from './observe.ts';
import type { Backlog, Drain } from './outbox.ts';
import type { Audited } from './post-run.ts';
import type { SampledTrace } from './trace-sample.ts';

/** The result of a load, before it is checked. Moments are monotonic, ms. */
export interface Loaded {
  readonly observer: Observer;
  readonly startedAt: number | undefined;
  readonly endedAt: number;
  readonly exitCode: number;
  readonly summary: K6Summary | string;
  readonly messages: string;
  /** Lines on k6's console that are no record, the first few. */
  readonly others: readonly string[];
  /** When the command ended k6 because it had seen enough, ms since 1970. */
  readonly cutAt: number | undefined;
  /** The records of orders, without those that the end itself cut off. */
  readonly records: readonly OrderRecord[];
  readonly window: FaultWindow;
}

/** Everything that a result is made of. */
export interface Finished extends Loaded {
  readonly drained: Drain | string;
  /** All looks, during the load and until everything was published. */
  readonly backlogs: readonly Backlog[];
  readonly sampled: readonly SampledTrace[];
  readonly audited: Audited;
  readonly tookMs: number;
}
