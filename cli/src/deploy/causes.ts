import { toCliError } from '../errors.ts';
import type { Cause, DeployState } from './run.ts';
import { Trip } from './trip.ts';

/** Why a deploy that threw `error` is rolled back. */
export function causeOf(error: unknown): Cause {
  if (error instanceof Trip) return error.why;
  const { code, ...rest } = toCliError(error);
  const body = toCliError(error).toJSON();
  const isStart = code === 'instance_failed' || code === 'not_ready_in_time';
  const text = [rest.what, rest.why].filter((part) => part !== undefined).join(': ');
  return { kind: isStart ? 'guard' : 'error', ...(isStart && { guard: 'not-ready' }), text, error: body };
}

/** Harm to all goes on until the last process of the release has ended; an order takes a tenth of this. In ms. */
const SHARED_HARM_LIMIT_MS = 1_000;

/** For how long the replicas of a release may finish their requests when it is rolled back for this; undefined: as usual. */
export function drainLimitOf({ guard }: Cause): number | undefined {
  return guard === 'total-errors' ? SHARED_HARM_LIMIT_MS : undefined;
}

/** How a deploy ends that was rolled back for this. */
export function endOf({ kind }: Cause): DeployState {
  if (kind === 'evidence') return 'inconclusive';
  return kind === 'error' ? 'failed' : 'rolled-back';
}
