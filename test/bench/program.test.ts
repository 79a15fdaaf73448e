import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parsePositive } from '../../cli/src/commands/option-values.ts';
import { CliError } from '../../cli/src/errors.ts';
import { exitCodes } from '../../cli/src/exit-codes.ts';
import { benchmark, runBenchmark } from './program.ts';

/** Runs a benchmark of no figures with these words, and collects what it writes. */
async function start(args: readonly string[], measure: () => Promise<0 | 1> = async () => exitCodes.ok) {
  const written = { stdout: '', stderr: '' };
  const stream = (name: 'stdout' | 'stderr') => ({
    write(text: string) {
      written[name] += text;
    },
  });
  const command = benchmark('bench:none', 'Measures nothing.').option('--rounds <n>', 'rounds', parsePositive, 5);
  const host = { stdout: stream('stdout'), stderr: stream('stderr'), env: {} };
  return { exitCode: await runBenchmark(command, measure, { args, host }), ...written };
}

const throwing = (error: unknown) => async () => {
  throw error;
};

describe('a benchmark', () => {
  it('ends with what the measurement says: that a target was missed', async () => {
    expect(await start(['--rounds', '2'], async () => exitCodes.failed)).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: '',
    });
  });

  it('does not say that a target was missed where nothing could be measured, and shows where', async () => {
    const { exitCode, stderr } = await start([], throwing(new RangeError('no values to summarize')));
    expect(exitCode).toBe(exitCodes.unavailable);
    expect(stderr).toContain('error: could not be measured: no values to summarize');
    expect(stderr).toContain('program.test.ts');
  });

  it('reports an error with an explanation by its words and its exit code', async () => {
    const missing = new CliError({
      code: 'docker_unavailable',
      what: 'no engine',
      why: 'none responds',
      next: 'start one',
    });
    expect(await start([], throwing(missing))).toEqual({
      exitCode: 3,
      stdout: '',
      stderr: 'error: no engine\n  why:  none responds\n  next: start one\n',
    });
  });

  it('does not take a failed command of the platform for a missed target', async () => {
    const { exitCode, stderr } = await start(
      [],
      throwing(new CliError({ code: 'build_failed', what: 'it is not ready', why: 'orders' })),
    );
    expect(exitCode).toBe(exitCodes.unavailable);
    expect(stderr).toBe('error: could not be measured: it is not ready\n  why:  orders\n');
  });

  it.each([
    [['--rounds', '0'], "option '--rounds <n>' argument '0' is invalid. expected a whole number, 1 or more"],
    [['--rounds'], "option '--rounds <n>' argument missing"],
    [['--nonsense'], "unknown option '--nonsense'"],
    [['word'], 'too many arguments. Expected 0 arguments but got 1: word.'],
  ])('says what is wrong with %j, starts nothing and ends with 2', async (args, says) => {
    expect(await start(args, throwing(new Error('it was started')))).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: `error: ${says}\n  next: see "npm run bench:none -- --help"\n`,
    });
  });
});

describe.each(['main', 'up', 'cost', 'docker'])('%s.ts', (name) => {
  const program = new URL(`${name}.ts`, import.meta.url).pathname;
  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, [program, ...args]).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
    );

  it('prints its usage, its options and its exit codes', async () => {
    const { code, stdout, stderr } = await run('--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`Usage: npm run ${name === 'main' ? 'bench' : `bench:${name}`} -- [options]`);
    expect(stdout).toContain('--json');
    expect(stdout).toContain('3 something could not be measured');
  });

  it('ends with 2 at words that are wrong, without a stack', async () => {
    const { code, stdout, stderr } = await run(name === 'cost' ? '--orders' : '--rounds', '0');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error: .+\n {2}next: see "npm run bench.* --help"\n$/);
  });
});

describe('main.ts', () => {
  it.each([
    [['--rows', 'a,z'], /no group "z"; known: a \(Orders/],
    [['--seconds', '601'], /at most 600/],
    [['--quick', '--write'], /--quick measures too little to be written/],
  ])('refuses %j', async (args, says) => {
    const program = new URL('main.ts', import.meta.url).pathname;
    const failed = await promisify(execFile)(process.execPath, [program, ...args]).catch((error) => error);
    expect(failed).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(says) });
  });
});
