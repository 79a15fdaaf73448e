import type { ProcessIdentity } from './process-identity.ts';

/** Something that runs now. */
export interface Running {
  /** Absent for what we did not start, and for containers whose process takes no signals from us. */
  readonly process?: ProcessIdentity;
  /** Resolves when it has ended, with how: "exit code 1", "signal SIGKILL". */
  readonly ended: Promise<string>;
  /**
   * Asks it to end, by `signal` where that is given and it is a process of ours, and insists after the limit. Resolves when it
   * has ended and left nothing behind.
   */
  stop(timeoutMs?: number, signal?: NodeJS.Signals): Promise<void>;
}
