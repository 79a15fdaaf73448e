import { existsSync } from 'node:fs';
import { createToxiproxyClient } from '../chaos/toxiproxy-client.ts';
import type { PlatformConnection } from '../platform/connection.ts';
import { currentRoundFile } from '../platform/current-round.ts';
import { armedFailpoints, failpointFolder } from '../platform/failpoint-files.ts';
import type { InstanceState, PlatformState } from '../platform/state.ts';
import { openFaults, undoFile } from '../platform/undo-log.ts';
import { processState } from '../process/proc.ts';
import { processTree } from '../process/process-tree.ts';
import type { CleanFacts } from './invariants/clean.ts';

/** What faults have left on the platform now. Rejects when Toxiproxy or the supervisor cannot be asked. */
export async function readClean({ control, project }: PlatformConnection): Promise<CleanFacts> {
  // Otherwise an audit would show a trainee whether something is wrong, and what.
  if (existsSync(currentRoundFile(project))) throw new Error('a drill is on, and it is looked at after its end');
  const state = await control.state();
  const [proxies, trees, left, armed] = await Promise.all([
    readProxies(state),
    Promise.all(state.instances.map(readTree)),
    openFaults(undoFile(project)),
    armedFailpoints(failpointFolder(project)),
  ]);
  // A lease is in the undo file too; by its id it is reported once. Those of a drill are not reported.
  const faults = new Map(
    [...state.faults, ...left.filter(({ hidden }) => !hidden)].map(({ id, fault, target }) => [
      id,
      `${fault} on ${target} (${id})`,
    ]),
  );
  return {
    ...proxies,
    frozen: trees.flatMap(({ frozen }) => frozen),
    processes: trees.reduce((sum, { processes }) => sum + processes, 0),
    faults: [...faults.values()],
    armed,
  };
}

/** Those on the platform's edges; none when the services are wired directly. */
async function readProxies({ toxiproxyUrl, edges }: PlatformState): Promise<Pick<CleanFacts, 'proxies' | 'missing'>> {
  if (toxiproxyUrl === undefined) return { proxies: [], missing: [] };
  const proxies = await createToxiproxyClient(toxiproxyUrl).proxies();
  return {
    proxies: proxies.filter(({ name }) => edges.some((edge) => edge.name === name)),
    missing: edges.map(({ name }) => name).filter((name) => !proxies.some((proxy) => proxy.name === name)),
  };
}

async function readTree({ name, process }: InstanceState): Promise<{ processes: number; frozen: string[] }> {
  const tree = process === undefined ? [] : await processTree(process);
  const frozen = tree.filter(({ pid }) => processState(pid)?.state === 'T');
  return { processes: tree.length, frozen: frozen.map(({ pid }) => `${name} (process ${pid})`) };
}
