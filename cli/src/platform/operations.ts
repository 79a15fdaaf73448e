import type { Asked } from './change-log.ts';

/** What an operator asks for while the platform runs; it holds until the same command reverses it. */
export type OperationRequest =
  | { readonly kind: 'scale'; readonly replicas: Readonly<Record<string, number>> }
  | { readonly kind: 'drain'; readonly instance: string; readonly undo: boolean }
  | { readonly kind: 'reroute'; readonly edge: string; readonly via: 'primary' | 'standby' };

export interface OperationOptions {
  /** Only resolve with the steps. */
  readonly dryRun: boolean;
  /** Who asks, and why. */
  readonly asked?: Asked;
}

/** One step of an operation. Each can be repeated, and a start after any of them goes on with what is recorded. */
export interface OperationStep {
  /** `record`: what is wanted is on disk. `announce`: callers can read it. */
  readonly action: 'record' | 'start' | 'announce' | 'stop' | 'remove';
  /** Services, instances or the edge that it concerns. */
  readonly targets: readonly string[];
  /** For people, an imperative. */
  readonly text: string;
}

/** What an operation did, or would do. */
export interface OperationResult {
  /** False where everything was so already. */
  readonly changed: boolean;
  readonly dryRun: boolean;
  readonly steps: readonly OperationStep[];
}
