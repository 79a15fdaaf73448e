import { RE2JS, RE2JSException } from 're2js';

/** A regular expression that is matched in time linear in the text. */
export interface Pattern {
  test(text: string): boolean;
}

/** A pattern that cannot be compiled; the message is Go's. */
export class BadPatternError extends Error {
  override readonly name = 'BadPatternError';
}

/**
 * Compiles what Alertmanager compiles: RE2 syntax, of which the whole text has to match. JavaScript's own engine has another syntax
 * (`(?i)`, `\z` and `[[:alpha:]]` mean something else) and takes exponential time for some patterns. Throws BadPatternError.
 */
export function compilePattern(text: string): Pattern {
  const pattern = compile(`^(?:${text})$`);
  return { test: (subject) => pattern.test(subject) };
}

/** Throws BadPatternError where the text alone is not a pattern: `a)|(b` is one only between other brackets. */
export function checkPattern(text: string): void {
  compile(text);
}

function compile(text: string): RE2JS {
  try {
    return RE2JS.compile(text);
  } catch (error) {
    if (error instanceof RE2JSException) throw new BadPatternError(error.message, { cause: error });
    throw error;
  }
}
