import { CliError } from '../../errors.ts';
import type { RunClock } from '../../shared/clock.ts';
import type { PlaceResponse } from '../../shop/gateway-client.ts';
import type { TraceSpan } from '../../trace/tree.ts';
import type { CustomerOrder } from '../engine/customers.ts';
import type { DrillPorts } from '../engine/ports.ts';

/** Time as the timers of a test have it. */
export const timerClock: RunClock = {
  now: () => performance.now(),
  date: () => new Date(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const onAbort = () => {
        clearTimeout(timer);
        reject(signal.reason);
      };
      const timer = setTimeout(() => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      }, ms);
      signal.addEventListener('abort', onAbort, { once: true });
    }),
};

/** A shop that serves every order as it should, while nothing is injected or everything was cured. */
export class FakeShop implements DrillPorts {
  readonly clock = timerClock;
  /** Injections that are in effect. */
  readonly faults = new Set<string>();
  readonly done: string[] = [];
  isCured = false;
  isBroken = false;
  isWitnessed = true;
  /** How long its measurement takes. */
  witnessMs = 0;
  alerts: string[] = [];
  spans = 31;
  leftovers: string[] = [];
  isFrozen = false;
  #placed = 0;

  get isFailing(): boolean {
    return this.isBroken || (this.faults.size > 0 && !this.isCured);
  }

  async place({ kind }: CustomerOrder): Promise<PlaceResponse> {
    const id = `order-${++this.#placed}`;
    const common = { kind: 'decided', id, httpStatus: 201, traceId: null, tookMs: 20 } as const;
    if (kind === 'invalid') {
      const problem = { code: 'unknown_product', title: '', detail: '', status: 422, type: '' };
      return { kind: 'problem', problem, traceId: null, location: null, retryAfterS: null, tookMs: 5 } as PlaceResponse;
    }
    if (this.isFailing) return { ...common, status: 'Cancelled', reason: 'payment unavailable' };
    if (kind === 'confirmed') return { ...common, status: 'Confirmed', reason: null };
    return { ...common, status: 'Cancelled', reason: kind === 'declined' ? 'payment declined' : 'out of stock' };
  }

  async unshipped(): Promise<readonly string[]> {
    return [];
  }

  async measure(): Promise<number> {
    return this.isFailing ? 1 : 0;
  }

  async trace(): Promise<readonly TraceSpan[]> {
    return [];
  }

  firing(): readonly string[] {
    return this.alerts;
  }

  async inject(injection: Parameters<DrillPorts['inject']>[0], ttlMs: number) {
    const name = JSON.stringify(injection);
    this.faults.add(name);
    this.done.push(`inject ${injection.type} for ${ttlMs}`);
    return {
      witness: this.clock
        .sleep(this.witnessMs, new AbortController().signal)
        .then(() => (this.isWitnessed ? 'a canary was refused' : undefined)),
      revert: async (why: string) => {
        this.faults.delete(name);
        this.done.push(`revert: ${why}`);
      },
    };
  }

  async decoy(what: string, target: string): Promise<void> {
    this.done.push(`${what} ${target}`);
  }

  async prove() {
    return { status: this.isFailing ? 'Cancelled' : 'Confirmed', spans: this.spans, expectedSpans: 31 };
  }

  async balance() {
    return { lost: 0, doubled: 0 };
  }

  async restore(): Promise<readonly string[]> {
    this.done.push('restore');
    return this.leftovers;
  }

  async evidence(reference: string) {
    if (reference.startsWith('trace:')) return { reference, touches: ['payments'], at: this.clock.date() };
    throw new CliError({ code: 'unknown_evidence', what: `${reference} does not exist` });
  }
}
