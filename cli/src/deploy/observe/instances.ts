import type { InstanceState } from '../../platform/state.ts';
import type { GuardReading } from '../analysis/guards.ts';
import { reads } from './seen.ts';

type Observed = Pick<InstanceState, 'name' | 'status' | 'reason' | 'crashes' | 'startedAt'>;

/** How long an instance may be not ready before it is taken for broken, ms. */
const UNREADY_MS = 2_000;

/** Reads whether instances still run, are ready, and are the processes that they were. */
export interface InstanceGuards {
  read(names: readonly string[], states: readonly Observed[], at: number): readonly GuardReading[];
}

export function createInstanceGuards(): InstanceGuards {
  const first = new Map<string, Observed>();
  const unreadySince = new Map<string, number>();

  function exitOf(name: string, state: Observed | undefined): string | undefined {
    if (state === undefined) return `${name} is gone`;
    const { crashes = 0, status, reason = 'no reason is known' } = state;
    const known = first.get(name)?.crashes ?? 0;
    return crashes > known || status === 'failed' ? `${name} ended without being asked to: ${reason}` : undefined;
  }

  function unreadyOf(name: string, state: Observed | undefined, at: number): string | undefined {
    if (state?.status !== 'unready') return void unreadySince.delete(name);
    const since = unreadySince.get(name) ?? at;
    unreadySince.set(name, since);
    if (at - since < UNREADY_MS) return undefined;
    return `${name} is not ready any more: ${state.reason ?? 'no reason is known'}`;
  }

  function restartOf(name: string, state: Observed | undefined): string | undefined {
    const known = first.get(name);
    if (state === undefined || known === undefined || state.startedAt === known.startedAt) return undefined;
    return `${name} was started again`;
  }

  return {
    read(names, states, at) {
      const own = names.map((name) => [name, states.find((one) => one.name === name)] as const);
      for (const [name, state] of own) if (state !== undefined && !first.has(name)) first.set(name, state);
      const found = (guard: 'exit' | 'not-ready' | 'restart', problems: readonly (string | undefined)[]) => {
        const said = problems.filter((problem) => problem !== undefined);
        return reads(guard, at)(said.length > 0 ? 'tripped' : 'held', said.join('; ') || names.join(', '));
      };
      return [
        found(
          'exit',
          own.map(([name, state]) => exitOf(name, state)),
        ),
        found(
          'not-ready',
          own.map(([name, state]) => unreadyOf(name, state, at)),
        ),
        found(
          'restart',
          own.map(([name, state]) => restartOf(name, state)),
        ),
      ];
    },
  };
}
