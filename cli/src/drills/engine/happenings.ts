import { messageOf } from '../../errors.ts';
import type { DrillEvent } from '../journal/records.ts';
import type { ScheduledDecoy } from '../seal/draw.ts';
import type { Envelope } from '../seal/envelope.ts';
import type { Customers } from './customers.ts';
import { injectLoad } from './inject-load.ts';
import type { DrillPorts, Injected, Injection } from './ports.ts';

export interface HappeningsOptions {
  readonly envelope: Envelope;
  readonly ports: DrillPorts;
  readonly customers: Pick<Customers, 'setLoad'>;
  /** How long a fault may be there when nothing ends it, ms. */
  readonly ttlMs: number;
  readonly over: AbortSignal;
  elapsed(): number;
  /** Whether customers notice something now. */
  isNoticed(): boolean;
  /** The round cannot go on. */
  onFailed(reason: string): void;
}

/** What a round does to the platform, and what its journal says of that after the end. */
export interface Happenings {
  /** When the first injection was begun, ms; undefined while none is done. */
  readonly begunMs: number | undefined;
  /** For the journal, once the round was revealed. */
  readonly withheld: readonly DrillEvent[];
  inject(): Promise<void>;
  /** Has the decoys come that follow this. */
  follow(after: ScheduledDecoy['after']): void;
  /** Resolves with what could not be reverted, for people. `which`: all where it is left out. */
  revert(why: string, which?: (injection: Injection) => boolean): Promise<readonly string[]>;
}

export function createHappenings(options: HappeningsOptions): Happenings {
  const { envelope, ports, customers, ttlMs, over, elapsed, isNoticed, onFailed } = options;
  const { scenario, schedule } = envelope;
  const withheld: DrillEvent[] = [];
  const witnesses: Promise<void>[] = [];
  const decoys: Promise<void>[] = [];
  const injected: { readonly index: number; readonly injected: Injected; isReverted: boolean }[] = [];

  async function injectOne(injection: (typeof scenario.inject)[number]): Promise<Injected> {
    if (injection.type !== 'load') return ports.inject(injection, scenario.lasts ?? ttlMs);
    return injectLoad(injection, { customers, clock: ports.clock, over, isNoticed });
  }

  async function inject(): Promise<void> {
    for (const [index, injection] of scenario.inject.entries()) {
      const beganMs = elapsed();
      try {
        const one = await injectOne(injection);
        injected.push({ index, injected: one, isReverted: false });
        withheld.push({ type: 'injected', index, happenedMs: elapsed(), beganMs });
        // It acts already, and may take seconds to be measured: customers, pages and trainee do not wait for that.
        witnesses.push(noteWitness(index, one));
      } catch (error) {
        return onFailed(`what should be injected was not: ${messageOf(error)}`);
      }
    }
    const { lasts } = scenario;
    if (lasts === undefined) return;
    void ports.clock.sleep(lasts, over).then(
      () => revert('its time was over'),
      () => undefined, // Over: the end reverts.
    );
  }

  async function noteWitness(index: number, { witness }: Injected): Promise<void> {
    try {
      const evidence = await witness;
      if (evidence !== undefined) withheld.push({ type: 'witnessed', index, evidence, happenedMs: elapsed() });
    } catch (error) {
      onFailed(`what was injected could not be measured: ${messageOf(error)}`);
    }
  }

  async function revert(why: string, which = (_: Injection) => true): Promise<readonly string[]> {
    const left: string[] = [];
    await Promise.all(witnesses);
    // At the end none comes any more; one that is on its way would change the platform after it was restored.
    if (over.aborted) await Promise.all(decoys);
    for (const one of injected.toReversed()) {
      const injection = scenario.inject[one.index];
      if (one.isReverted || injection === undefined || !which(injection)) continue;
      one.isReverted = true;
      try {
        await one.injected.revert(why);
        if (!over.aborted) withheld.push({ type: 'reverted', index: one.index, why, happenedMs: elapsed() });
      } catch (error) {
        left.push(messageOf(error));
      }
    }
    return left;
  }

  async function comeAndGo(decoy: ScheduledDecoy): Promise<void> {
    try {
      await ports.clock.sleep(decoy.delayMs, over);
      withheld.push({ type: 'decoy', do: decoy.do, target: decoy.target, happenedMs: elapsed() });
      await ports.decoy(decoy.do, decoy.target);
    } catch (error) {
      if (!over.aborted) onFailed(`a decoy failed: ${messageOf(error)}`);
    }
  }

  return {
    get begunMs() {
      return withheld.find((event) => event.type === 'injected')?.beganMs;
    },
    withheld,
    inject,
    follow(after) {
      for (const decoy of schedule.decoys.filter((one) => one.after === after)) decoys.push(comeAndGo(decoy));
    },
    revert,
  };
}
