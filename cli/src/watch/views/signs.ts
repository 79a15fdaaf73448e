import type { Style } from '../../output/style.ts';
import type { InstanceState, InstanceStatus } from '../../platform/state.ts';
import type { BreakerState } from '../model/figures.ts';

/** A state as a sign, a word and a colour: who does not see the colour has the other two. */
export interface Sign {
  readonly sign: string;
  readonly word: string;
  readonly colour: keyof Style;
}

const statusSigns: Readonly<Record<InstanceStatus, Sign>> = {
  failed: { sign: '✗', word: 'failed', colour: 'red' },
  unready: { sign: '▲', word: 'unready', colour: 'red' },
  backoff: { sign: '↻', word: 'backoff', colour: 'red' },
  starting: { sign: '◐', word: 'starting', colour: 'yellow' },
  stopping: { sign: '◑', word: 'stopping', colour: 'yellow' },
  stopped: { sign: '○', word: 'stopped', colour: 'yellow' },
  ready: { sign: '●', word: 'ready', colour: 'green' },
};

export const breakerSigns: Readonly<Record<BreakerState, Sign>> = {
  closed: { sign: '●', word: 'closed', colour: 'green' },
  'half-open': { sign: '◐', word: 'half-open', colour: 'yellow' },
  open: { sign: '○', word: 'open', colour: 'red' },
};

/** The order of the table above is that of their weight: the first one that an instance is in stands for all. */
export function worstOf(instances: readonly InstanceState[]): Sign {
  const statuses = Object.keys(statusSigns) as InstanceStatus[];
  const worst = statuses.find((status) => instances.some((instance) => instance.status === status));
  return statusSigns[worst ?? 'stopped'];
}
