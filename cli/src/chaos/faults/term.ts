import { signalIdentity } from '../process-tree.ts';
import { processEndFault } from './process-end.ts';

/** A service drains first, so its end may take as long as its drain limit. */
export const term = processEndFault({
  name: 'term',
  title: 'the process is asked to end (SIGTERM) and drains; the supervisor starts it again',
  isMomentary: true,
  async end({ victims }) {
    for (const { process } of victims) await signalIdentity(process, 'SIGTERM');
  },
});
