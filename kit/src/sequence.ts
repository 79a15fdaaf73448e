/**
 * Runs tasks one after another, in order, each in the context of its caller. After a failed task no more are started: later
 * ones reject with its error.
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

  /** Runs a task after all others, and accepts no more. */
  finish<T>(task: () => Promise<T>): Promise<T> {
    const result = this.run(task);
    this.#isClosed = true;
    return result;
  }

  /** Starts no more tasks. Resolves when the current one, if any, has settled. */
  async abort(): Promise<void> {
    this.#isClosed = true;
    this.#isAborted = true;
    await Promise.allSettled([this.#last]);
  }
}

const ended = () => new Error('the transaction had ended when the statement was to be sent');
