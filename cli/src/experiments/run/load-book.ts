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
export class LoadBook {
  readonly #loads = new Map<string, Load>();

  add(step: string, load: Load): void {
    this.#loads.set(step, load);
  }

  get(step: string): Load | undefined {
    return this.#loads.get(step);
  }

  /** Stops all and resolves when their orders are over. */
  async end(): Promise<void> {
    for (const load of this.#loads.values()) load.stop();
    await Promise.all([...this.#loads.values()].map(({ done }) => done));
  }
}
