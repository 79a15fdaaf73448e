import { rotated, type Summary, summarize } from '../rounds.ts';
import type { LoopResult } from './closed-loop.ts';
import type { CpuReading } from './cpu.ts';

/** One run of one case: the loop's result, and the CPU all its processes took for it, in ms by process. */
export interface Shot extends LoopResult {
  readonly cpuMs: CpuReading;
}

export interface Case {
  readonly name: string;
  run(): Promise<Shot>;
}

/** A case over its rounds. CPU in ms per piece of work. */
export interface Measured {
  readonly name: string;
  /** Over all rounds. */
  readonly failed: number;
  readonly perSecond: Summary;
  readonly p50Ms: Summary;
  readonly p99Ms: Summary;
  readonly cpuMs: Summary;
  /** Medians, by process. */
  readonly cpuMsBy: Readonly<Record<string, number>>;
}

export interface RoundOptions {
  readonly rounds: number;
  /** One line about what is being measured. */
  say(line: string): void;
}

/** Runs all cases in every round, in an order that rotates, and takes medians with their range. */
export async function alternate(cases: readonly Case[], { rounds, say }: RoundOptions): Promise<readonly Measured[]> {
  const shots = new Map<string, Shot[]>(cases.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const one of rotated(cases, round)) {
      say(`round ${round + 1} of ${rounds}: ${one.name}`);
      shots.get(one.name)?.push(await one.run());
    }
  }
  return cases.map(({ name }) => measured(name, shots.get(name) ?? []));
}

function measured(name: string, shots: readonly Shot[]): Measured {
  const of = (value: (shot: Shot) => number) => summarize(shots.map(value));
  const processes = [...new Set(shots.flatMap(({ cpuMs }) => Object.keys(cpuMs)))];
  return {
    name,
    failed: shots.reduce((sum, { failed }) => sum + failed, 0),
    perSecond: of(({ done, elapsedMs }) => (done * 1000) / elapsedMs),
    p50Ms: of(({ p50Ms }) => p50Ms),
    p99Ms: of(({ p99Ms }) => p99Ms),
    cpuMs: of(({ cpuMs, done }) => Object.values(cpuMs).reduce((sum, ms) => sum + ms, 0) / done),
    cpuMsBy: Object.fromEntries(
      processes.map((process) => [process, of(({ cpuMs, done }) => (cpuMs[process] ?? 0) / done).median]),
    ),
  };
}
