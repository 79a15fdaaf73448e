import { type Command, InvalidArgumentError } from 'commander';
import {
  type CommandDeps,
  type CommonOptions,
  effects,
  type Register,
  withCommonOptions,
} from '../../command-context.ts';
import { parseSeconds } from '../option-values.ts';
import type { TraceAssertOptions } from './run-trace.ts';

export const register: Register = (program, deps) => {
  const trace = program.command('trace').description('show a trace as a tree, or compare it with its contract');
  registerShow(trace, deps);
  registerAssert(trace, deps);
};

function registerShow(trace: Command, deps: CommandDeps): void {
  withCommonOptions(trace.command('show'))
    .description('print a trace as a tree')
    .argument('<id>', 'trace id, traceparent, or the id of an order; 6 characters of an id or more')
    .addHelpText('after', effects('none, reads only', '0, 1 (unknown trace), 2, 4'))
    .action(async (id: string, options: CommonOptions) => {
      const { runTraceShow } = await import('./run-trace.ts');
      await runTraceShow({ traceId: traceIdIn(id), order: id }, options, deps);
    });
}

function registerAssert(trace: Command, deps: CommandDeps): void {
  withCommonOptions(trace.command('assert'))
    .description('compare a trace with a contract; prints a tree diff when they differ')
    .argument('<id>', 'trace id, 32 hexadecimal digits, or a traceparent', parseTraceId)
    .option('--contract <name>', 'confirmed, declined, replayed, recovered, or a path to a .json file', 'confirmed')
    .option('--timeout <seconds>', 'how long the contract may take to be met', parseSeconds, 10)
    .option('--settle <seconds>', 'how long it must then stay met', parseSeconds, 1)
    .option('--set <name=count>', 'a parameter of the contract, e.g. distinctProducts=2', parseParameter)
    .addHelpText('after', effects('none, reads only', '0, 1 (the trace differs), 2, 4, 5 (evidence is missing)'))
    .action(async (traceId: string, options: TraceAssertOptions) => {
      const { runTraceAssert } = await import('./run-trace.ts');
      await runTraceAssert(traceId, options, deps);
    });
}

/** A trace id, or the one inside a W3C traceparent. */
function traceIdIn(text: string): string | undefined {
  return /^(?:[0-9a-f]{2}-)?([0-9a-f]{32})(?:-[0-9a-f]{16}-[0-9a-f]{2})?$/.exec(text.toLowerCase())?.[1];
}

function parseTraceId(text: string): string {
  const id = traceIdIn(text);
  if (id === undefined) throw new InvalidArgumentError('expected 32 hexadecimal digits');
  return id;
}

function parseParameter(text: string, earlier: Readonly<Record<string, number>> = {}): Record<string, number> {
  const [, name, count] = /^(\w+)=(\d{1,2}|100)$/.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('expected something like distinctProducts=2 (0 to 100)');
  return { ...earlier, [name]: Number(count) };
}
