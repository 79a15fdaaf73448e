import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';

/** The result of `work`, or a rejection that names it after `limitMs`: for work that knows no limit of its own. */
export function within<T>(work: Promise<T>, limitMs: number, what: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new CliError({ what: `${what} gave no answer within ${limitMs / 1000} s`, exitCode: exitCodes.timedOut }));
    }, limitMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
