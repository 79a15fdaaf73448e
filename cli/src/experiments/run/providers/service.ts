import { messageOf } from '../../../errors.ts';
import type { ServiceProvider } from '../../format/schema.ts';
import { type StepResult, unknown } from '../outcome.ts';
import type { RunContext } from '../run-context.ts';

/** Starts, stops or restarts in order, and waits until it is done. Stopped ones are started again by `restoreServices`. */
export async function actOnService({ do: action, target }: ServiceProvider, context: RunContext): Promise<StepResult> {
  try {
    if (action === 'stop') context.stopped.add(target);
    await context.platform.connection.control.service(target, action);
    if (action !== 'stop') context.stopped.delete(target);
    return { outcome: 'held', observed: `${target}: ${action} done` };
  } catch (error) {
    return unknown(`${target}: ${action} failed: ${messageOf(error)}`);
  }
}

/** Starts again what the run has stopped; resolves with what could not be started. */
export async function restoreServices({
  stopped,
  platform,
}: Pick<RunContext, 'stopped' | 'platform'>): Promise<string[]> {
  const problems: string[] = [];
  for (const target of stopped) {
    try {
      await platform.connection.control.service(target, 'start');
      stopped.delete(target);
    } catch (error) {
      problems.push(`${target} was stopped and could not be started again: ${messageOf(error)}`);
    }
  }
  return problems;
}
