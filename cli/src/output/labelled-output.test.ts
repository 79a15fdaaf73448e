import { describe, expect, it } from 'vitest';
import { labelledOutput } from './labelled-output.ts';
import { createOutput } from './output.ts';

function captured() {
  const written = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof written) => ({
    isTTY: true,
    columns: 80,
    write(text: string) {
      written[name] += text;
    },
  });
  const env = { NO_COLOR: '1' };
  return { written, output: createOutput({ stdout: stream('stdout'), stderr: stream('stderr'), env }) };
}

describe('a labelled output', () => {
  it('begins each line for people with its label', () => {
    const { written, output } = captured();
    labelledOutput(output, 'E08 ').note('first\n  second');
    expect(written.stderr).toBe('E08  | first\nE08  |   second\n');
  });

  it('says of which it warns', () => {
    const { written, output } = captured();
    labelledOutput(output, 'E08 ').warn('slow');
    expect(written.stderr).toBe('warning: E08: slow\n');
  });

  it('reports progress in lines also on a terminal, where several cannot redraw one', () => {
    const { written, output } = captured();
    labelledOutput(output, 'E08 ').progress('starting').succeed('ready');
    expect(written.stderr).toBe('E08  | starting ...\nE08  | ok ready\n');
  });
});
