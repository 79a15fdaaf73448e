/** Exit codes of every command, as documented for users (docs/cli.md). */
export const exitCodes = {
  /** Everything passed. */
  ok: 0,
  /** A check or an experiment failed, a threshold was crossed, the ledger does not balance. */
  failed: 1,
  /** Wrong usage or a bad input file; nothing was changed. */
  usage: 2,
  /** Something the command needs is not available here. */
  unavailable: 3,
  /** The platform is not running, or not ready. */
  notRunning: 4,
  /** The evidence is missing; never reported as a pass. */
  unknown: 5,
  /** A fault or a change could not be undone; what remains is listed. */
  dirty: 6,
  /** A wait timed out; the culprit is named. */
  timedOut: 124,
  /** Ended by Ctrl-C, and clean. */
  interrupted: 130,
  /** Ended by SIGTERM, and clean. */
  terminated: 143,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
