import { checkTarget, findFault } from '../chaos/catalog.ts';
import { checkParameters, readDurations } from '../chaos/parameters.ts';
import { parseFault, type WrittenFault } from '../chaos/written-fault.ts';
import { CliError } from '../errors.ts';
import { findExperiments } from '../experiments/format/catalog.ts';
import type { PlatformState } from '../platform/state.ts';

/**
 * What `--chaos` names, each either `TARGET:FAULT[,NAME=VALUE...]` or an experiment of the catalog. Of an experiment
 * only the faults are taken: its orders and bounds would not hold beside another load. Throws CliError (2).
 */
export async function chooseFaults(words: readonly string[], root: string): Promise<readonly WrittenFault[]> {
  const chosen = await Promise.all(
    words.map((word) => (word.includes(':') ? [parseFault(word)] : faultsOfExperiment(word, root))),
  );
  return chosen.flat();
}

async function faultsOfExperiment(name: string, root: string): Promise<readonly WrittenFault[]> {
  const found = await findExperiments(root, { names: [name] });
  const faults = found.flatMap(({ experiment }) =>
    experiment.method.flatMap((step) => ('provider' in step && step.provider.type === 'fault' ? [step.provider] : [])),
  );
  if (faults.length === 0) {
    throw new CliError({
      code: 'invalid_load',
      what: `${name} has no fault that could act on a load`,
      why: 'what it does is done by its own orders, messages or services',
      next: `run it alone with "shopctl chaos run ${name}", or name a fault`,
    });
  }
  return faults.map(({ target, fault, parameters }) => ({ target, fault, parameters }));
}

/** Whether each can be aimed so at this platform, before any load. Throws CliError (2) of the first that cannot. */
export function checkFaults(faults: readonly WrittenFault[], state: PlatformState): void {
  for (const { target, fault: name, parameters } of faults) {
    const fault = findFault(name);
    checkTarget(fault, target, state);
    checkParameters(fault.parameters, readDurations(fault.parameters, parameters), `${fault.name} on ${target}`);
  }
}
