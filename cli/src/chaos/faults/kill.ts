import { signalIdentity } from '../../process/process-tree.ts';
import { processEndFault } from './process-end.ts';

/** kill -9; the supervisor starts it again. */
export const kill = processEndFault({
  name: 'kill',
  title: 'the process is killed (SIGKILL); the supervisor starts it again',
  isMomentary: true,
  async end({ victims }) {
    for (const { process } of victims) await signalIdentity(process, 'SIGKILL');
  },
});
