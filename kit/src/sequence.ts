/**
 * Runs tasks one after another, in the order in which they are given, each in the context of its caller. After one that
 * failed none is begun any more: those behind it reject with its error.
 */
export class Sequence {
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  #isAborted = false;

  /** Rejects with the error of the task, or of an earlier one; with an Error when the sequence ended before it could begin. */
  run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(ended());
    const result = this.#last.then(() => {
      if (this.#isAborted) throw ended();
      return task();
    });
    this.#last = result;
    return result;
  }

  /** Runs a task behind all others; none is taken any more. */
  finish<T>(task: () => Promise<T>): Promise<T> {
    const result = this.run(task);
    this.#isClosed = true;
    return result;
  }

  /** Begins no task any more. Resolves when the one under way, if any, has settled. */
  async abort(): Promise<void> {
    this.#isClosed = true;
    this.#isAborted = true;
    await Promise.allSettled([this.#last]);
  }
}

const ended = () => new Error('the transaction had ended when the statement was to be sent');
