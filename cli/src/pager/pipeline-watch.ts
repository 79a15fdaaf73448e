/** The alert that always fires: as long as it comes, rules are evaluated and alerts arrive. */
export const WATCHDOG = 'Watchdog';

/** After a start, Prometheus has so long until its first alert arrives. Later the end of that alert decides. */
const FIRST_WORD_MS = 30_000;

/**
 * Whether alerts would arrive. `off`: nothing evaluates rules; `unknown`: it should, and no word of it has come yet; `lost`: it should,
 * and does not.
 */
export type PipelineStatus = 'off' | 'unknown' | 'working' | 'lost';

export interface PipelineWatch {
  /** What has changed, if anything. */
  look(
    nowMs: number,
    watchdogFires: boolean,
    isLost: boolean,
  ): { status: 'lost' | 'restored'; why: string } | undefined;
  /** This process did not run for a time. */
  resume(nowMs: number): void;
  status(isLost: boolean): PipelineStatus;
}

export function createPipelineWatch({
  isExpected,
  startedAtMs,
}: {
  readonly isExpected: () => boolean | undefined;
  readonly startedAtMs: number;
}): PipelineWatch {
  let sinceMs = startedAtMs;
  let wasExpected = false;
  let hasWorked = false;
  // Since the time above.
  let hasBegun = false;
  let works = false;
  // A Prometheus that the platform did not start is known by its alerts alone.
  const expected = () => isExpected() ?? hasWorked;
  const beginAgain = (nowMs: number) => {
    sinceMs = nowMs;
    hasBegun = false;
  };
  return {
    look(nowMs, watchdogFires, isLost) {
      works = watchdogFires;
      hasWorked ||= watchdogFires;
      const isNow = expected();
      if (isNow !== wasExpected) beginAgain(nowMs);
      hasBegun ||= watchdogFires;
      wasExpected = isNow;
      if (isLost && watchdogFires) return { status: 'restored', why: 'alerts arrive again' };
      if (isLost && !isNow) return { status: 'restored', why: 'rules are not evaluated any more, as was asked for' };
      if (isLost || !isNow || watchdogFires) return undefined;
      if (!hasBegun && nowMs - sinceMs < FIRST_WORD_MS) return undefined;
      const why = 'the alert Watchdog, which always fires, is absent: no rule is evaluated, or no alert arrives';
      return { status: 'lost', why };
    },
    resume: beginAgain,
    status(isLost) {
      if (isLost) return 'lost';
      if (works) return 'working';
      return expected() ? 'unknown' : 'off';
    },
  };
}
