import type { Style } from './style.ts';

/** Something that takes a while. End it with exactly one of `succeed`, `fail` or `stop`. */
export interface Progress {
  /** What is being done now. Shown on terminals only, so that logs of CI stay short. */
  update(text: string): void;
  /** A line that stays, above the spinner. */
  note(text: string): void;
  succeed(text: string): void;
  fail(text: string): void;
  /** Ends without a word. */
  stop(): void;
}

export interface ProgressOptions {
  readonly text: string;
  readonly stream: { write(text: string): unknown };
  readonly redraws: boolean;
  readonly style: Style;
}

/** A spinner where lines can be redrawn, plain lines elsewhere. */
export function createProgress(options: ProgressOptions): Progress {
  return options.redraws ? createSpinner(options) : createLines(options);
}

function createLines({ text, stream, style }: ProgressOptions): Progress {
  const print = (line: string) => void stream.write(`${line}\n`);
  print(`${text} ...`);
  return {
    update: () => {},
    note: print,
    succeed: (line) => print(`${style.green('ok')} ${line}`),
    fail: (line) => print(`${style.red('failed')} ${line}`),
    stop: () => {},
  };
}

/** ora is loaded when a spinner is first wanted: it costs 40 ms that `--version` should not pay. */
function createSpinner({ text, stream }: ProgressOptions): Progress {
  let latest = text;
  let ending: ((spinner: import('ora').Ora) => void) | undefined;
  const whenLoaded = import('ora').then(({ default: ora }) => {
    const spinner = ora({ text: latest, stream: stream as NodeJS.WriteStream, discardStdin: false });
    return ending ? spinner : spinner.start();
  });
  const then = (act: (spinner: import('ora').Ora) => void) => void whenLoaded.then(act);
  const end = (act: (spinner: import('ora').Ora) => void) => {
    ending = act;
    then(act);
  };
  return {
    update(line) {
      latest = line;
      then((spinner) => {
        spinner.text = latest;
      });
    },
    note: (line) =>
      then((spinner) => {
        spinner.clear();
        stream.write(`${line}\n`);
      }),
    succeed: (line) => end((spinner) => spinner.succeed(line)),
    fail: (line) => end((spinner) => spinner.fail(line)),
    stop: () => end((spinner) => spinner.stop()),
  };
}
