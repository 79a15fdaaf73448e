import type { Ran } from '../play/operator.ts';
import type { PlaySession } from '../play/player.ts';
import type { ShownRound } from '../requests.ts';
import { timerClock } from './fake-shop.ts';

/** What a program gets in a test: commands succeed with what `outputs` has for their beginning. */
export function aSession(outputs: Readonly<Record<string, string>> = {}) {
  const ran: string[] = [];
  const said: string[] = [];
  const over = new AbortController();
  const state = { pages: ['OrdersErrorBudgetBurn'] as readonly string[], phase: 'checking' as ShownRound['phase'] };
  const session: PlaySession = {
    round: { id: '20260101-120000', level: 2, commitment: 'c0ffee', limitMs: 240_000 } as ShownRound,
    project: { name: 'drills' } as PlaySession['project'],
    operator: {
      async run(words): Promise<Ran> {
        const text = words.join(' ');
        ran.push(text);
        return { exitCode: 0, stdout: outputs[text] ?? '{}' };
      },
    },
    clock: timerClock,
    env: { PATH: process.env.PATH },
    pages: async () => state.pages,
    status: async () => ({ phase: state.phase }),
    signal: over.signal,
    say: (line) => void said.push(line),
  };
  return { session, ran, said, state, over };
}
