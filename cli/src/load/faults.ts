import { checkTarget, findFault } from '../chaos/catalog.ts';
import { durationMs } from '../chaos/duration.ts';
import { checkParameters, readDurations } from '../chaos/parameters.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { findExperiments } from '../experiments/format/catalogue.ts';
import type { PlatformState } from '../platform/state.ts';

/** A fault for the middle third of a load. */
export interface ChosenFault {
  readonly target: string;
  readonly fault: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/**
 * What `--chaos` names, each either `TARGET:FAULT[,NAME=VALUE...]` or an experiment of the catalogue, of which only the
 * faults are taken: its orders and bounds are its own, and would not hold beside another load. Throws CliError (2).
 */
export async function chooseFaults(words: readonly string[], root: string): Promise<readonly ChosenFault[]> {
  const chosen = await Promise.all(
    words.map((word) => (word.includes(':') ? [parseFault(word)] : faultsOfExperiment(word, root))),
  );
  return chosen.flat();
}

/** `orders-payments:latency,latency=400ms` */
export function parseFault(word: string): ChosenFault {
  const [place = '', ...pairs] = word.split(',');
  const [target = '', name = '', ...more] = place.split(':');
  if (target === '' || name === '' || more.length > 0) throw malformed(word);
  const fault = findFault(name);
  const parameters = Object.fromEntries(
    pairs.map((pair) => {
      const [parameter, ...value] = pair.split('=');
      if (!parameter || value.length !== 1) throw malformed(word);
      return [parameter, plainValue(value[0] as string)];
    }),
  );
  return { target, fault: fault.name, parameters };
}

function malformed(word: string): CliError {
  return new CliError({
    what: `--chaos "${word}" is neither a fault nor an experiment`,
    next: 'write TARGET:FAULT[,NAME=VALUE...], like orders-payments:latency,latency=400ms ("shopctl chaos faults"), or an experiment ("shopctl chaos list")',
    exitCode: exitCodes.usage,
  });
}

/** Durations stay as they are written; the fault's own check reads them. */
function plainValue(text: string): string | number {
  return durationMs(text) === undefined && text !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}

async function faultsOfExperiment(name: string, root: string): Promise<readonly ChosenFault[]> {
  const found = await findExperiments(root, { names: [name] });
  const faults = found.flatMap(({ experiment }) =>
    experiment.method.flatMap((step) => ('provider' in step && step.provider.type === 'fault' ? [step.provider] : [])),
  );
  if (faults.length === 0) {
    throw new CliError({
      what: `${name} has no fault that could act on a load`,
      why: 'what it does is done by its own orders, messages or services',
      next: `run it by itself with "shopctl chaos run ${name}", or name a fault`,
      exitCode: exitCodes.usage,
    });
  }
  return faults.map(({ target, fault, parameters }) => ({ target, fault, parameters }));
}

/** Whether each can be aimed so at this platform, before any load. Throws CliError (2) of the first that cannot. */
export function checkFaults(faults: readonly ChosenFault[], state: PlatformState): void {
  for (const { target, fault: name, parameters } of faults) {
    const fault = findFault(name);
    checkTarget(fault, target, state);
    checkParameters(fault.parameters, readDurations(fault.parameters, parameters), `${fault.name} on ${target}`);
  }
}
