/** schemathesis from PyPI, in a virtual environment of the user's cache, beside the other tools that are fetched. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cloneRoot, openProject } from '../../../cli/src/platform/project.ts';

const folder = join(import.meta.dirname, '../../conformance');
const requirements = join(folder, 'requirements.txt');

/** Installing takes 15 s; a registry that does not respond is given up after this, in ms. */
const INSTALL_TIMEOUT_MS = 180_000;

interface Result {
  readonly code: number;
  /** What it printed, standard error last. */
  readonly output: string;
}

/** Path of the Python that has schemathesis, or why there is none. A failed installation leaves nothing behind. */
export async function installSchemathesis(): Promise<{ python: string } | { missing: string }> {
  const { cacheDir } = openProject('conformance', cloneRoot(), process.env);
  const version = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const home = join(cacheDir, `schemathesis-${version}`);
  const python = join(home, 'bin/python');
  if (existsSync(python)) return { python };
  const unfinished = `${home}.${process.pid}`;
  try {
    await mkdir(cacheDir, { recursive: true });
    const created = await run('python3', ['-m', 'venv', unfinished], INSTALL_TIMEOUT_MS);
    if (created.code !== 0) return { missing: `python3 makes no virtual environment: ${lastLine(created.output)}` };
    // Python compiles what it uses when it does: a tenth of all that is installed.
    const pip = [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      '--no-deps',
      '--no-compile',
      '-r',
      requirements,
    ];
    const installed = await run(join(unfinished, 'bin/python'), pip, INSTALL_TIMEOUT_MS);
    if (installed.code !== 0) return { missing: `schemathesis cannot be installed: ${lastLine(installed.output)}` };
    // Another run may have been faster.
    if (!existsSync(python)) await rename(unfinished, home);
    return { python };
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** Not the command in `bin`: that names the folder in which it was installed. */
const START = 'from schemathesis.cli import schemathesis; schemathesis()';

/** Runs all checks against the service whose document is at `url`; about `examples` cases for each operation and phase. */
export function runSchemathesis(
  python: string,
  url: string,
  options: { examples: number; timeoutMs: number; cwd: string },
): Promise<Result> {
  const config = ['--config-file', join(folder, 'schemathesis.toml')];
  const args = ['run', url, '--checks', 'all', '--max-examples', String(options.examples), '--no-color'];
  return run(python, ['-c', START, ...config, ...args], options.timeoutMs, options.cwd);
}

function run(command: string, args: readonly string[], timeout: number, cwd?: string): Promise<Result> {
  return new Promise((resolve) => {
    execFile(command, [...args], { timeout, cwd, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      const ended = error?.killed === true ? `\nended after ${timeout} ms` : '';
      resolve({ code, output: `${stdout}${stderr || (code === 0 ? '' : (error?.message ?? ''))}${ended}` });
    });
  });
}

function lastLine(output: string): string {
  return output.trim().split('\n').at(-1) ?? '';
}
