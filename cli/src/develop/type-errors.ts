import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { complaintOf, exitCodeOf, runProgram } from '../process/run-program.ts';

/** One error of the TypeScript compiler. */
export interface TypeProblem {
  /** Relative to the clone. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** `TS2322` */
  readonly code: string;
  readonly message: string;
}

/** Where the clone's own compiler is; undefined where it is not installed. */
export function findCompiler(root: string): string | undefined {
  const file = join(root, 'node_modules/typescript/bin/tsc');
  return existsSync(file) ? file : undefined;
}

/** It is written in Go, which collects its garbage less often with this: a third less CPU for 3 to 8 % more memory (measured). */
const COLLECTED_AT_PERCENT = '400';

/**
 * Checks the types of the clone and resolves with its errors. One run of the compiler, which continues from the last one's
 * record: a process that stayed would outlive a killed command. The services that restart meanwhile have precedence: it has one
 * thread, since several check much of it twice. Rejects when the compiler itself fails, or is aborted.
 */
export async function typeErrors(compiler: string, root: string, signal: AbortSignal): Promise<readonly TypeProblem[]> {
  const args = ['-n', '10', process.execPath, compiler, '--noEmit', '--singleThreaded', '--pretty', 'false'];
  const env = { GOGC: COLLECTED_AT_PERCENT, ...process.env };
  try {
    await runProgram('nice', args, { cwd: root, env, signal });
    return [];
  } catch (error) {
    const errors = exitCodeOf(error) === undefined ? [] : parseErrors(complaintOf(error));
    if (errors.length === 0) throw new Error(`tsc: ${complaintOf(error)}`, { cause: error });
    return errors;
  }
}

/** Of what tsc prints with `--pretty false`. Pure. */
export function parseErrors(output: string): readonly TypeProblem[] {
  return output.split('\n').flatMap((line) => {
    const [, file, row, column, code, message] = /^(.+)\((\d+),(\d+)\): error (TS\d+): (.*)$/.exec(line) ?? [];
    if (file === undefined || code === undefined || message === undefined) return [];
    return [{ file, line: Number(row), column: Number(column), code, message }];
  });
}
