/** How many items a batch may have, where the time that it takes is limited and not known. */
export interface BatchSize {
  readonly current: number;
  /** A batch of so many did not succeed: the next has half of them, one at least. */
  failed(items: number): void;
  /** A batch of so many did: after a full one the next may have a tenth more, so that a size that fails is seldom tried. */
  succeeded(items: number): void;
}

export function createBatchSize(most: number): BatchSize {
  let current = most;
  return {
    get current() {
      return current;
    },
    failed(items) {
      current = Math.min(current, Math.max(1, Math.floor(items / 2)));
    },
    succeeded(items) {
      if (items >= current) current = Math.min(most, current + Math.ceil(current / 10));
    },
  };
}
