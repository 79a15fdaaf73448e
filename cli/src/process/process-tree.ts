import { listPids, processState } from './proc.ts';
import { identifyProcess, isAlive, type ProcessIdentity } from './process-identity.ts';
import { signalGroup } from './signal.ts';

/**
 * A process and everything below it, parents first. A PostgreSQL backend is in a separate group, so a signal to the
 * group does not reach it. Linux only: elsewhere the process alone.
 */
export async function processTree(root: ProcessIdentity): Promise<readonly ProcessIdentity[]> {
  if (!(await isAlive(root))) return [];
  const below = process.platform === 'linux' ? descendantsOf(root.pid) : [];
  const identities = await Promise.all(below.map(identifyProcess));
  return [root, ...identities.filter((one) => one !== undefined)];
}

/** Sends a signal to this very process; false when it is gone. */
export async function signalIdentity(identity: ProcessIdentity, signal: NodeJS.Signals): Promise<boolean> {
  if (!(await isAlive(identity))) return false;
  try {
    process.kill(identity.pid, signal);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/**
 * Kills a process, its group and everything below it. It is stopped first, so that it forks nothing that would be missed. A
 * backend of PostgreSQL that waits for a lock does not see that its postmaster was killed.
 */
export async function killTree(root: ProcessIdentity): Promise<void> {
  if (!(await signalIdentity(root, 'SIGSTOP'))) return;
  const tree = await processTree(root);
  signalGroup(root.pid, 'SIGKILL');
  for (const one of tree) await signalIdentity(one, 'SIGKILL');
}

/** Pids of all that is below a process, parents first. Linux only. */
export function descendantsOf(root: number): number[] {
  const pids = listPids();
  const children = Map.groupBy(pids, (pid) => processState(pid)?.parent);
  const below = (parent: number): number[] => (children.get(parent) ?? []).flatMap((pid) => [pid, ...below(pid)]);
  return below(root);
}
