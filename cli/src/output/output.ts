import type { CliError } from '../errors.ts';
import { createProgress, type Progress } from './progress.ts';
import { createStyle, type Style } from './style.ts';
import { type MaybeTerminal, terminalOf } from './terminal.ts';

export type OutputMode = 'text' | 'json';

/**
 * The one way commands speak. Results go to stdout (text, or JSON and nothing else); progress, notes, warnings and
 * errors go to stderr in both modes.
 */
export interface Output {
  readonly mode: OutputMode;
  /** Colours of stdout; identity functions where they are off. */
  readonly style: Style;
  /** Width of stdout in characters. */
  readonly columns: number;
  /** Whether stdout is a terminal, and not a file or another program. */
  readonly isTerminal: boolean;
  /** The command's result: one JSON document, or the text rendered from it. */
  result<T>(value: T, text: (value: T) => string): void;
  /** One item of a stream: one line of NDJSON, or text. */
  record<T>(value: T, text: (value: T) => string): void;
  /** For people only, on stderr. */
  note(text: string): void;
  /** "warning: ..." on stderr. */
  warn(text: string): void;
  /** What happened, why, what to do next, on stderr (one line of JSON in JSON mode, which has the code too). */
  error(error: CliError): void;
  /** What makes a terminal noticed, on stderr; nothing elsewhere. */
  ring(text: string): void;
  /** A spinner on a terminal; elsewhere one line when it starts and one when it ends. On stderr. */
  progress(text: string): Progress;
}

/** A stream we write to; `process.stdout` and `process.stderr` fit. */
export interface OutputStream extends MaybeTerminal {
  write(text: string): unknown;
}

export interface OutputOptions {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: NodeJS.ProcessEnv;
}

/** An Output whose mode can still be chosen, once the command line has been parsed. */
export interface ConfigurableOutput extends Output {
  use(mode: OutputMode): void;
}

/** Makes the Output of a process; nothing is written until it is used. */
export function createOutput({ stdout, stderr, env }: OutputOptions): ConfigurableOutput {
  const out = terminalOf(stdout, env);
  const err = terminalOf(stderr, env);
  const errStyle = createStyle({ enabled: err.colors });
  let mode: OutputMode = 'text';
  const print = (text: string) => void stdout.write(`${text}\n`);
  const writeLine = (text: string) => void stderr.write(`${text}\n`);
  return {
    get mode() {
      return mode;
    },
    use(chosen) {
      mode = chosen;
    },
    style: createStyle({ enabled: out.colors }),
    columns: out.columns,
    isTerminal: out.isTerminal,
    result: (value, text) => print(mode === 'json' ? JSON.stringify(value, null, 2) : text(value)),
    record: (value, text) => print(mode === 'json' ? JSON.stringify(value) : text(value)),
    note: writeLine,
    warn: (text) => writeLine(`${errStyle.yellow('warning:')} ${text}`),
    error: (error) =>
      writeLine(
        mode === 'json' ? JSON.stringify({ error }) : formatError(error, errStyle, env.SHOPCTL_DEBUG !== undefined),
      ),
    ring: (text) => {
      if (err.redraws) stderr.write(text);
    },
    progress: (text) => createProgress({ text, stream: stderr, redraws: err.redraws, style: errStyle }),
  };
}

function formatError(error: CliError, style: Style, showsCode: boolean): string {
  const indent = (text: string) => text.replaceAll('\n', '\n        ');
  const lines = [`${style.red('error:')} ${error.what}`];
  if (error.why) lines.push(`  ${style.dim('why:')}  ${indent(error.why)}`);
  if (error.next) lines.push(`  ${style.dim('next:')} ${indent(error.next)}`);
  if (showsCode) lines.push(`  ${style.dim('code:')} ${error.code}`);
  return lines.join('\n');
}
