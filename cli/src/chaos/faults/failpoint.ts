import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Type } from 'typebox';
import { CliError } from '../../errors.ts';
import { exitCodes } from '../../exit-codes.ts';
import { failpointNames } from '../failpoint-names.ts';
import { defineFault } from '../fault.ts';

const parameters = Type.Object(
  {
    at: Type.String({ description: 'name of the place, for instance S4' }),
    action: Type.Enum(['kill', 'delay', 'error'], { description: 'kill, delay or error' }),
    delay: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 3_600_000,
        description: 'how long to wait there; with kill, how long work goes on before the end',
        unit: 'ms',
      }),
    ),
  },
  { additionalProperties: false },
);

interface Armed {
  /** The file that arms it; the service removes it before it acts. */
  readonly file: string;
}

/** Armed for its next hit; a restarted process does not die again. */
export const failpoint = defineFault<typeof parameters, Armed>({
  name: 'failpoint',
  kind: 'failpoint',
  scope: 'service',
  title: 'the service dies, waits or fails at a named place in its code, once',
  parameters,
  async prepare({ target, parameters: { at, action, delay } }, world) {
    const known: readonly string[] = failpointNames[target as keyof typeof failpointNames] ?? [];
    if (!known.includes(at)) throw usage(`${target} has no failpoint ${at}`, `those it has: ${known.join(', ')}`);
    if (action === 'delay' && delay === undefined)
      throw usage('how long to wait is not stated', 'add --delay, like 2s');
    if (action === 'error' && delay !== undefined) throw usage('an error has no delay', 'leave --delay out');
    if (world.failpointDir === undefined) {
      throw new CliError({
        what: 'the services run without failpoints',
        why: 'they cost nothing and cannot be armed unless asked for',
        next: 'run "shopctl down", then "SHOPCTL_FAILPOINTS=1 shopctl up"',
        exitCode: exitCodes.unavailable,
      });
    }
    return { file: join(world.failpointDir, `${target}.${at}`) };
  },
  async inject({ id, parameters: { action, delay } }, { file }) {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    // Renamed into place: a service that looks meanwhile must not find an empty file.
    const draft = join(dirname(file), `.${id}`);
    await writeFile(draft, delay === undefined ? action : `${action} ${delay}`, { mode: 0o600 });
    await rename(draft, file);
  },
  async witness(_, { file }) {
    if (existsSync(file)) return { verdict: 'pending', evidence: 'armed, not hit yet' };
    return { verdict: 'seen', evidence: 'hit: the service has taken it' };
  },
  undo: ({ file }) => rm(file, { force: true }),
  async verify({ file }) {
    if (existsSync(file)) throw new Error(`${file} is still there`);
    return 'not armed any more';
  },
});

function usage(what: string, next: string): CliError {
  return new CliError({ what, next, exitCode: exitCodes.usage });
}
