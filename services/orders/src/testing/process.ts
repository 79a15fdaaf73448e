import type { Journal } from './journal.ts';
import type { VirtualTime } from './virtual-time.ts';

/**
 * An operating system process that can stop for a while, or for good. Whatever it sends or receives passes `gate`: a
 * paused process goes on when it is continued, a crashed one never.
 */
export interface SimulatedProcess {
  readonly name: string;
  readonly alive: boolean;
  readonly paused: boolean;
  gate(): Promise<void>;
  pause(ms: number): void;
  kill(): void;
  onDeath(work: () => void): void;
}

export function createProcess(name: string, time: VirtualTime, journal: Journal): SimulatedProcess {
  let alive = true;
  let awake: Promise<void> | undefined;
  const farewells: (() => void)[] = [];
  return {
    name,
    get alive() {
      return alive;
    },
    get paused() {
      return awake !== undefined;
    },
    async gate() {
      while (alive && awake !== undefined) await awake;
      // One for each: what waits for a promise that all share would never be garbage.
      if (!alive) await new Promise<never>(() => undefined);
    },
    pause(ms) {
      journal.note(name, `is paused for ${ms} ms`);
      const { promise, resolve } = Promise.withResolvers<void>();
      awake = promise;
      time.after(ms, () => {
        if (awake !== promise) return;
        awake = undefined;
        journal.note(name, 'wakes up');
        resolve();
      });
    },
    kill() {
      alive = false;
      journal.note(name, 'is killed');
      for (const farewell of farewells) farewell();
    },
    onDeath: (work) => void farewells.push(work),
  };
}
