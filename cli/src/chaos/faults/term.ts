import { signalIdentity } from '../../process/process-tree.ts';
import { POSTGRES_STOP_SIGNAL } from '../../providers/postgres/stop-signal.ts';
import { processEndFault } from './process-end.ts';

/** A service drains first, so its end may take as long as its drain limit. */
export const term = processEndFault({
  name: 'term',
  title: 'the process is asked to end (SIGTERM; PostgreSQL SIGINT) and drains; the supervisor starts it again',
  isMomentary: true,
  async end({ victims }) {
    for (const { name, process } of victims) {
      await signalIdentity(process, name === 'postgres' ? POSTGRES_STOP_SIGNAL : 'SIGTERM');
    }
  },
});
