import { CliError } from '../errors.ts';

/** The result of `work`, or a rejection that names it after `limitMs`: for work that has no limit. */
export function within<T>(work: Promise<T>, limitMs: number, what: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(
        new CliError({ code: 'no_response_in_time', what: `${what} gave no response within ${limitMs / 1000} s` }),
      );
    }, limitMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
