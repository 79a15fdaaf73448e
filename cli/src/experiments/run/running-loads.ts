/** A load that goes on beside the steps. */
export interface Load {
  /** No further orders. */
  stop(): void;
  /** Resolves when every order that was sent is over; says how many and how they arrived. */
  readonly done: Promise<LoadSummary>;
}

export interface LoadSummary {
  readonly sent: number;
  /** Orders that were sent more than 100 ms after their time: the machine was too busy, the load is not what was asked for. */
  readonly late: number;
}

/** The loads of a run by the step that started them. */
export class RunningLoads {
  readonly #loads = new Map<string, Load>();
  readonly #taken = new Set<string>();

  add(step: string, load: Load): void {
    // A failure is met where the load is ended, which may be later than it happens.
    load.done.catch(() => undefined);
    this.#loads.set(step, load);
  }

  /** The load for the step that ends it and evaluates how its orders arrived. */
  take(step: string): Load | undefined {
    this.#taken.add(step);
    return this.#loads.get(step);
  }

  /** Stops all and resolves when their orders are over, with those that no step has taken. */
  async end(): Promise<readonly { readonly step: string; readonly summary: LoadSummary }[]> {
    for (const load of this.#loads.values()) load.stop();
    const ended = [...this.#loads].map(async ([step, { done }]) => ({ step, summary: await done }));
    return (await Promise.all(ended)).filter(({ step }) => !this.#taken.has(step));
  }
}
