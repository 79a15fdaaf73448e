import type { CommandDeps } from '../../command-context.ts';
import { type OperationCommandOptions, runOperation } from '../run-operation.ts';

export interface RerouteOptions extends OperationCommandOptions {
  readonly via: 'primary' | 'standby';
}

/** `shopctl reroute EDGE --via primary|standby`. */
export async function runReroute(edge: string, { via, ...options }: RerouteOptions, deps: CommandDeps): Promise<void> {
  const way = via === 'standby' ? 'past its proxy' : 'by its proxy';
  await runOperation(
    { kind: 'reroute', edge, via },
    { doing: `rerouting ${edge}`, done: `${edge} goes ${way}`, failed: `${edge} not rerouted` },
    options,
    deps,
  );
}
