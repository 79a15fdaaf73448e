import type { GuardReading } from '../analysis/guards.ts';
import { reads } from './seen.ts';

/** What an instance has done since it was started. */
export interface Work {
  readonly requests: number;
  readonly statements: number;
  readonly cpuMs: number;
}

interface Point {
  readonly at: number;
  readonly work: Work;
}

const WINDOW_MS = 30_000;
const LEAST_WINDOW_MS = 15_000;
/** What an instance does without requests is a part of the quotient at lower rates. */
const LEAST_RATE = 2;
const LIMIT = 1.5;

/** Reads whether a request takes the canary more than the stable arm. */
export interface WorkGuard {
  add(at: number, work: ReadonlyMap<string, Work>): void;
  /** CPU is compared with `peers`, which have the canary's age; statements with all `others`. */
  read(
    canary: readonly string[],
    compared: { readonly others: readonly string[]; readonly peers: readonly string[] },
    at: number,
  ): GuardReading;
}

export function createWorkGuard(): WorkGuard {
  const points = new Map<string, Point[]>();

  /** Of all these instances together; undefined where it is too little. */
  function each(names: readonly string[], what: 'statements' | 'cpuMs', at: number): number | undefined {
    const sum = { requests: 0, amount: 0, rate: 0 };
    for (const name of names) {
      const own = (points.get(name) ?? []).filter((point) => point.at > at - WINDOW_MS && point.at <= at);
      const [first, last] = [own[0], own.at(-1)];
      if (first === undefined || last === undefined || last.at - first.at < LEAST_WINDOW_MS) continue;
      const requests = last.work.requests - first.work.requests;
      sum.requests += requests;
      sum.amount += last.work[what] - first.work[what];
      sum.rate += requests / ((last.at - first.at) / 1_000) / names.length;
    }
    return sum.rate < LEAST_RATE ? undefined : sum.amount / sum.requests;
  }

  return {
    add(at, work) {
      for (const [name, now] of work) {
        const own = (points.get(name) ?? []).filter((point) => point.at > at - WINDOW_MS);
        points.set(name, [...own, { at, work: now }]);
      }
    },
    read(canary, { others, peers }, at) {
      const reading = reads('work', at);
      const found = [
        compare('statements', each(canary, 'statements', at), each(others, 'statements', at)),
        compare('ms of CPU', each(canary, 'cpuMs', at), each(peers, 'cpuMs', at)),
      ].filter((one) => one !== undefined);
      const worse = found.filter(({ isMore }) => isMore);
      if (worse.length > 0) return reading('tripped', worse.map(({ text }) => text).join('; '));
      // Its preflight had the statements of the contract.
      if (found.length === 0) return reading('held', `not compared below ${LEAST_RATE} requests a second`);
      return reading('held', found.map(({ text }) => text).join('; '));
    },
  };
}

function compare(what: string, canary: number | undefined, others: number | undefined) {
  if (canary === undefined || others === undefined) return undefined;
  const text = `${canary.toFixed(1)} ${what} a request, the others ${others.toFixed(1)}`;
  return { text, isMore: others > 0 && canary > LIMIT * others };
}
