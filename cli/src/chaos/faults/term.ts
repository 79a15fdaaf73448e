import { DEFAULT_DRAIN_TIMEOUT_MS } from '@shop/kit/config.ts';
import { signalIdentity } from '../../process/process-tree.ts';
import { POSTGRES_STOP_SIGNAL } from '../../providers/postgres/stop-signal.ts';
import { processEndFault } from './process-end.ts';

/** A service drains first; PostgreSQL writes a checkpoint, which takes seconds on a slow disk. */
const END_LIMIT_MS = DEFAULT_DRAIN_TIMEOUT_MS + 1_000;

export const term = processEndFault({
  name: 'term',
  title: 'the process is asked to end (SIGTERM; PostgreSQL SIGINT) and drains; the supervisor starts it again',
  isMomentary: true,
  endLimitMs: END_LIMIT_MS,
  async end({ victims }) {
    for (const { name, process } of victims) {
      await signalIdentity(process, name === 'postgres' ? POSTGRES_STOP_SIGNAL : 'SIGTERM');
    }
  },
});
