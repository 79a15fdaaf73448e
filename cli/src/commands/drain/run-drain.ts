import type { CommandDeps } from '../../command-context.ts';
import { type OperationCommandOptions, runOperation } from '../run-operation.ts';

export interface DrainOptions extends OperationCommandOptions {
  readonly undo?: boolean;
}

/** `shopctl drain INSTANCE [--undo]`. */
export async function runDrain(
  instance: string,
  { undo = false, ...options }: DrainOptions,
  deps: CommandDeps,
): Promise<void> {
  const words = undo
    ? { doing: `returning ${instance}`, done: `${instance} takes work`, failed: `${instance} stays drained` }
    : { doing: `draining ${instance}`, done: `${instance} takes no new work`, failed: `${instance} not drained` };
  await runOperation({ kind: 'drain', instance, undo }, words, options, deps);
}
