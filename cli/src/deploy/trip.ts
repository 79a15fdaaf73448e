import type { Cause } from './run.ts';

/** A deploy is to be rolled back. */
export class Trip extends Error {
  override readonly name = 'Trip';
  readonly why: Cause;

  constructor(why: Cause) {
    super(why.text);
    this.why = why;
  }
}

/** Something was observed that a good release does not do. */
export function tripped(guard: string, text: string, details?: string): Trip {
  return new Trip({ kind: 'guard', guard, text, ...(details !== undefined && { details }) });
}

/** Something that is needed to decide was not observed. */
export function unobserved(text: string): Trip {
  return new Trip({ kind: 'evidence', text });
}
