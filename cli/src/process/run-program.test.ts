import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { complaintOf, exitCodeOf, runProgram } from './run-program.ts';

const shell = (script: string, options?: Parameters<typeof runProgram>[2]) =>
  runProgram('/bin/sh', ['-c', script], options);
const failureOf = (run: Promise<unknown>) =>
  run.then(
    () => expect.unreachable('it succeeded'),
    (error: Error) => error,
  );

describe('a program', () => {
  it('has the given environment and nothing of ours', async () => {
    process.env.OURS = '1';
    try {
      expect((await shell('echo "$OURS-$THEIRS"', { env: { THEIRS: '2' } })).stdout).toBe('-2');
      expect((await shell('echo "$OURS"')).stdout).toBe('1');
    } finally {
      delete process.env.OURS;
    }
  });

  it('reads a text or a stream, and otherwise nothing', async () => {
    expect((await shell('cat', { input: 'text' })).stdout).toBe('text');
    expect((await shell('cat', { input: Readable.from([Buffer.from('a'), Buffer.from('b')]) })).stdout).toBe('ab');
    expect((await shell('cat')).stdout).toBe('');
  });

  it('may end without reading its input', async () => {
    const failure = await failureOf(shell('echo broken >&2; exit 3', { input: 'x'.repeat(1 << 20) }));
    expect(complaintOf(failure)).toBe('broken');
    expect(exitCodeOf(failure)).toBe(3);
  });

  it('fails with a stream that breaks', async () => {
    const input = Readable.from(
      (async function* () {
        yield Buffer.from('half');
        throw new Error('the source broke');
      })(),
    );
    const failure = await failureOf(shell('cat', { input }));
    expect(failure.message).toContain('the source broke');
  });

  it('is ended by the signal', async () => {
    const aborted = new AbortController();
    const run = failureOf(shell('exec sleep 60', { signal: aborted.signal }));
    aborted.abort(new Error('Ctrl-C'));
    expect((await run).cause).toMatchObject({ message: 'Ctrl-C' });
  });
});

describe('the complaint', () => {
  it.each([
    ['what it wrote to stderr', 'echo said; echo complained >&2; exit 1', 'complained'],
    ['what it wrote to stdout, where stderr is empty', 'echo said; exit 1', 'said'],
    ['how it ended, where it wrote nothing', 'exit 7', 'Command failed with exit code 7'],
  ])('is %s', async (_title, script, complaint) => {
    expect(complaintOf(await failureOf(shell(script)))).toContain(complaint);
  });

  it('says that the time was up, whatever was written', async () => {
    const failure = await failureOf(shell('echo half >&2; exec sleep 60', { timeoutMs: 50 }));
    expect(complaintOf(failure)).toContain('timed out after 50 milliseconds');
    expect(exitCodeOf(failure)).toBeUndefined();
  });

  it('names a program that is not there', async () => {
    expect(complaintOf(await failureOf(runProgram('/nowhere/program', [])))).toContain('/nowhere/program');
  });
});
