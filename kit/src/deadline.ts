/**
 * Header that carries the caller's remaining budget in whole ms, over HTTP; gRPC has its own deadline. Gateway and orders
 * read it; catalog and payments receive it, and complete what they began (docs/saga.md, "Budgets").
 */
export const DEADLINE_HEADER = 'shop-timeout-ms';

/** A moment on the monotonic clock by which a response must be sent. */
export class Deadline {
  readonly #at: number;
  readonly #now: () => number;

  private constructor(at: number, now: () => number) {
    this.#at = at;
    this.#now = now;
  }

  static after(ms: number, now: () => number = () => performance.now()): Deadline {
    return new Deadline(now() + ms, now);
  }

  /** The caller's budget from its header, never more than `limitMs`; `limitMs` where the header is absent or unusable. */
  static fromHeader(header: string | string[] | undefined, limitMs: number): Deadline {
    const given = typeof header === 'string' && /^\d{1,7}$/.test(header) ? Number(header) : limitMs;
    return Deadline.after(Math.min(given, limitMs));
  }

  /** Whole ms left, 0 when it has passed. */
  remainingMs(): number {
    return Math.max(0, Math.floor(this.#at - this.#now()));
  }

  get expired(): boolean {
    return this.remainingMs() === 0;
  }
}
