import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MatrixLine } from '../../../alert-matrix/journal.ts';
import type { SilentLine } from '../../../alert-matrix/silent/journal.ts';
import type { CommandDeps } from '../../../command-context.ts';
import { createOutput } from '../../../output/output.ts';
import { openProject } from '../../../platform/project.ts';
import { appendLineTo } from '../../../report/line-journal.ts';

/** A folder with a project whose root is the clone. No platform runs in it. */
export interface Home extends AsyncDisposable {
  readonly folder: string;
  /** Has a handler run on its own; resolves with what it printed. */
  run<Options>(
    handler: (options: Options, deps: CommandDeps) => Promise<void>,
    options: Options,
    how?: { readonly json: boolean },
  ): Promise<string>;
  /** Writes the journal of a run; resolves with the name of the run. */
  addRun(kind: 'matrix' | 'silent', lines: readonly (MatrixLine | SilentLine)[]): Promise<string>;
}

export async function aHome(): Promise<Home> {
  const folder = await mkdtemp(join(tmpdir(), 'shop-alerts-'));
  return {
    folder,
    async run(handler, options, { json } = { json: false }) {
      let printed = '';
      const stdout = {
        write(text: string) {
          printed += text;
        },
      };
      const project = openProject('shop', process.cwd(), { SHOPCTL_HOME: folder });
      const output = createOutput({ stdout, stderr: { write: () => undefined }, env: { NO_COLOR: '1' } });
      if (json) output.use('json');
      const deps = {
        output,
        projectFrom: () => project,
        signal: new AbortController().signal,
        onInterrupt: () => undefined,
        env: {},
      };
      await handler(options, deps as unknown as CommandDeps);
      return printed;
    },
    async addRun(kind, lines) {
      const runFolder = join(folder, 'shop', 'alerts', kind, 'a-run');
      await mkdir(runFolder, { recursive: true });
      for (const line of lines) await appendLineTo(join(runFolder, 'journal.jsonl'), line);
      return 'a-run';
    },
    async [Symbol.asyncDispose]() {
      process.exitCode = undefined;
      await rm(folder, { recursive: true });
    },
  };
}
