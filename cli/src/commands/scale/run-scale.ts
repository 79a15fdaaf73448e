import type { CommandDeps } from '../../command-context.ts';
import { type OperationCommandOptions, runOperation } from '../run-operation.ts';

/** `shopctl scale SERVICE=N...`. */
export async function runScale(
  replicas: Readonly<Record<string, number>>,
  options: OperationCommandOptions,
  deps: CommandDeps,
): Promise<void> {
  const services = Object.keys(replicas).join(', ');
  const done = Object.entries(replicas).map(
    ([service, count]) => `${service} has ${count} ${count === 1 ? 'replica' : 'replicas'}`,
  );
  await runOperation(
    { kind: 'scale', replicas },
    { doing: `scaling ${services}`, done: done.join(', '), failed: `${services} not scaled` },
    options,
    deps,
  );
}
