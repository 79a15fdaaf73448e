import type { Asked } from '../platform/change-log.ts';
import type { ReleaseRequest } from './release-source.ts';
import type { CanaryTerms, DatedVerdict, DeployRun, Strategy } from './run.ts';

/** What `deploy` asks for. */
export interface DeployRequest extends ReleaseRequest {
  readonly strategy: Strategy;
  /** For how long the new release is watched before the old one is given up, ms. */
  readonly keepMs: number;
  /** Faults may be active: guards may find their effects. */
  readonly duringChaos?: boolean;
  /** A deploy that is not over is rolled back first. */
  readonly supersede?: boolean;
  /** Of the strategy `canary`. */
  readonly canary?: CanaryTerms;
  /** Although its requests cannot come within its limit at the present rate. */
  readonly force?: boolean;
  /** Only resolve with what would be done. */
  readonly dryRun?: boolean;
  readonly asked: Asked;
}

/** A release that ran before is to run again. */
export interface RollbackRequest {
  readonly service: string;
  /** A version of an earlier deploy; absent: the one before the last. */
  readonly to?: string;
  readonly keepMs: number;
  readonly asked: Asked;
}

/** What would be done. */
export interface PlannedDeploy {
  readonly service: string;
  readonly strategy: Strategy;
  readonly source: string;
  readonly from: string;
  readonly to: string;
  readonly steps: readonly string[];
}

/** The deploys of a project, the newest last. */
export interface DeployList {
  readonly runs: readonly DeployRun[];
  /** The id of the one that is not over. */
  readonly current?: string;
  /** What was found in the last look at its canary. */
  readonly progress?: DatedVerdict;
  /** What each service runs that does not run what the clone has built. */
  readonly releases: Readonly<Record<string, string>>;
}
