import { Type } from 'typebox';
import { processState } from '../../process/proc.ts';
import type { ProcessIdentity } from '../../process/process-identity.ts';
import { isAlive } from '../../process/process-identity.ts';
import { processTree, signalIdentity } from '../../process/process-tree.ts';
import { waitUntil } from '../../shared/wait-until.ts';
import { defineFault } from '../fault.ts';
import { recordVictims, type VictimRecord } from '../instances.ts';
import { toWitness } from './toxic-fault.ts';

interface Paused {
  readonly victims: readonly VictimRecord[];
  /** Every process below the victims when it was prepared: orphans of a killed victim are found by it. */
  readonly processes: readonly ProcessIdentity[];
}

const STOPPED_LIMIT_MS = 2_000;
const isStopped = ({ pid }: ProcessIdentity) => ['T', undefined].includes(processState(pid)?.state);

/** All that runs below the victims now, and what ran when the fault began. */
async function affected({ victims, processes }: Paused): Promise<readonly ProcessIdentity[]> {
  const trees = await Promise.all(victims.map(({ process }) => processTree(process)));
  const all = new Map([...processes, ...trees.flat()].map((one) => [`${one.pid} ${one.startTime}`, one]));
  const alive = await Promise.all([...all.values()].map(isAlive));
  return [...all.values()].filter((_, index) => alive[index]);
}

/** Connections stay open without a response, which only a time limit detects. */
export const pause = defineFault<ReturnType<typeof Type.Object>, Paused>({
  name: 'pause',
  kind: 'process',
  scope: 'process',
  title: 'the process and those below it are frozen (SIGSTOP); connections stay open without a response',
  parameters: Type.Object({}, { additionalProperties: false }),
  defaults: { parameters: {} },
  async prepare({ target }, platform) {
    const { victims } = recordVictims(target, platform);
    const trees = await Promise.all(victims.map(({ process }) => processTree(process)));
    return { victims, processes: trees.flat() };
  },
  async inject(_, paused) {
    const signalled = new Set<number>();
    // One of them may have been starting another when it was stopped.
    await waitUntil('all processes to be stopped', STOPPED_LIMIT_MS, async () => {
      const all = await affected(paused);
      for (const one of all.filter(({ pid }) => !signalled.has(pid))) {
        await signalIdentity(one, 'SIGSTOP');
        signalled.add(one.pid);
      }
      return all.every((one) => signalled.has(one.pid) && isStopped(one)) || undefined;
    });
  },
  async witness(_, paused) {
    const all = await affected(paused);
    const states = all.map(({ pid }) => processState(pid)?.state ?? 'gone');
    const evidence = `${all.length} process(es) below ${paused.victims.map(({ name }) => name).join(', ')} in state ${[...new Set(states)].join(', ')}`;
    return toWitness(all.length > 0 && states.every((state) => state === 'T'), evidence);
  },
  async isInPlace(paused) {
    const all = await affected(paused);
    return all.length > 0 && all.every(isStopped);
  },
  async undo(paused) {
    for (const one of await affected(paused)) await signalIdentity(one, 'SIGCONT');
  },
  verify: (paused) =>
    waitUntil('all processes to run again', STOPPED_LIMIT_MS, async () => {
      const all = await affected(paused);
      if (all.some(({ pid }) => processState(pid)?.state === 'T')) return undefined;
      return all.length === 0 ? 'the processes have ended' : `${all.length} process(es) run, none in state T`;
    }),
});
