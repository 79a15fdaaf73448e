import { describe, expect, it } from 'vitest';
import type { CliErrorCode } from '../error-codes.ts';
import { CliError, receivedError, toCliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { formatDuration } from '../shared/duration.ts';
import { createOutput } from './output.ts';
import { formatTable } from './table.ts';
import { terminalOf } from './terminal.ts';
import { formatBytes } from './units.ts';

function captured(env: NodeJS.ProcessEnv = {}, isTTY = false) {
  const written = { stdout: '', stderr: '' };
  const stream = (name: 'stdout' | 'stderr') => ({
    isTTY,
    write(text: string) {
      written[name] += text;
    },
  });
  return { written, output: createOutput({ stdout: stream('stdout'), stderr: stream('stderr'), env }) };
}

const failure = new CliError({ code: 'platform_not_running', what: 'it broke', why: 'one\ntwo', next: 'mend it' });

describe('output', () => {
  it('writes JSON alone on stdout in JSON mode, and progress, warnings and errors on stderr', () => {
    const { written, output } = captured();
    output.use('json');
    output.progress('working').succeed('worked');
    output.warn('careful');
    output.error(failure);
    output.result({ response: 42 }, () => 'forty-two');
    expect(JSON.parse(written.stdout)).toEqual({ response: 42 });
    expect(written.stderr).toContain(
      'working ...\nok worked\nwarning: careful\n{"error":{"code":"platform_not_running","what":"it broke"',
    );
  });

  it('writes a stream as one JSON document a line', () => {
    const { written, output } = captured();
    output.use('json');
    for (const n of [1, 2]) output.record({ n }, () => '');
    expect(written.stdout).toBe('{"n":1}\n{"n":2}\n');
  });

  it('says what happened, why and what to do next', () => {
    const { written, output } = captured();
    output.error(failure);
    expect(written).toEqual({ stdout: '', stderr: 'error: it broke\n  why:  one\n        two\n  next: mend it\n' });
  });

  it('adds the code for who debugs', () => {
    const { written, output } = captured({ SHOPCTL_DEBUG: '1' });
    output.error(failure);
    expect(written.stderr).toContain('\n  next: mend it\n  code: platform_not_running\n');
  });

  it('colours only a terminal', () => {
    expect(captured({}, false).output.style.red('x')).toBe('x');
    expect(captured({}, true).output.style.red('x')).toBe('\u001b[31mx\u001b[39m');
  });
});

describe('terminal', () => {
  const tty = { isTTY: true, columns: 100 };
  it.each([
    ['a terminal', tty, {}, { colors: true, redraws: true }],
    ['a pipe', {}, {}, { colors: false, redraws: false }],
    ['NO_COLOR', tty, { NO_COLOR: '1' }, { colors: false, redraws: true }],
    ['an empty NO_COLOR', tty, { NO_COLOR: '' }, { colors: true, redraws: true }],
    ['TERM=dumb', tty, { TERM: 'dumb' }, { colors: false, redraws: false }],
    ['CI', tty, { CI: 'true' }, { colors: true, redraws: false }],
    ['no columns', { isTTY: true, columns: 0 }, {}, { colors: true, redraws: false, columns: 80 }],
    ['FORCE_COLOR in a pipe', {}, { FORCE_COLOR: '1' }, { colors: true, redraws: false }],
  ])('%s', (_, stream, env, expected) => {
    expect(terminalOf(stream, env)).toMatchObject(expected);
  });
});

describe('errors', () => {
  it('keep the code and the explanation of other layers', () => {
    const error = Object.assign(new Error('no broker'), {
      code: 'component_unavailable',
      why: 'none found',
      next: 'install one',
    });
    expect(toCliError(error)).toMatchObject({
      what: 'no broker',
      why: 'none found',
      next: 'install one',
      code: 'component_unavailable',
      exitCode: 3,
    });
  });

  it('are failures by default, whatever was thrown', () => {
    for (const thrown of ['text', Object.assign(new Error('x'), { code: 'ENOENT' })]) {
      expect(toCliError(thrown)).toMatchObject({ code: 'unexpected_error', exitCode: exitCodes.failed });
    }
  });

  it('of another version of the supervisor are unexpected where their code is unknown', () => {
    const received = { ...failure.toJSON(), code: 'of_tomorrow' as CliErrorCode };
    expect(receivedError(received)).toMatchObject({ code: 'unexpected_error', what: 'it broke', next: 'mend it' });
    expect(receivedError(failure.toJSON()).toJSON()).toEqual(failure.toJSON());
  });
});

describe('text', () => {
  it('aligns columns by what is visible', () => {
    expect(
      formatTable(
        ['A', 'B'],
        [
          ['\u001b[31mlong\u001b[39m', 'x'],
          ['s', ''],
        ],
      ),
    ).toBe('A     B\n\u001b[31mlong\u001b[39m  x\ns');
  });

  it.each([
    [999, '999 ms'],
    [1524, '1.52 s'],
    [12_340, '12.3 s'],
    [125_000, '2 min 5 s'],
    [7_260_000, '2 h 1 min'],
  ])('%d ms is %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it('counts bytes in powers of 1024', () => {
    expect([formatBytes(78 * 1024 ** 2), formatBytes(1.5 * 1024 ** 3)]).toEqual(['78 MB', '1.5 GB']);
  });
});
