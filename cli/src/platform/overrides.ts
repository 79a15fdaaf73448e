import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { CliError, messageOf } from '../errors.ts';
import { writePrivateFile } from '../providers/private-file.ts';
import type { Project } from './project.ts';
import { ReleaseSchema } from './release.ts';

const OverridesSchema = Type.Object({
  /** Replicas of a service (`scale`). */
  replicas: Type.Record(Type.String(), Type.Integer({ minimum: 1 })),
  /** Replicas that get no new work (`drain`). */
  draining: Type.Array(Type.String()),
  /** Edges whose callers pass by the proxy (`reroute`). */
  onStandby: Type.Array(Type.String()),
  /** What a service runs in place of what the clone has built (`deploy`). A file of an older version does not say. */
  releases: Type.Record(Type.String(), ReleaseSchema, { default: {} }),
});

/** What an operator has changed about a platform. It holds until the same command reverses it, also over `down`. */
export type Overrides = Readonly<Static<typeof OverridesSchema>>;

export const noOverrides: Overrides = { replicas: {}, draining: [], onStandby: [], releases: {} };

export function overridesFile({ stateDir }: Pick<Project, 'stateDir'>): string {
  return join(stateDir, 'overrides.json');
}

/** The overrides of a project, none without a file. Throws CliError when it cannot be read: what is wanted is unknown then. */
export async function readOverrides(file: string): Promise<Overrides> {
  try {
    return Value.Parse(OverridesSchema, JSON.parse(await readFile(file, 'utf8')));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return noOverrides;
    throw new CliError({
      code: 'state_unreadable',
      what: 'what "scale", "drain", "reroute" and "deploy" have changed cannot be read',
      why: `${file}: ${messageOf(cause)}`,
      next: 'correct the file, or delete it: nothing is changed then',
      cause,
    });
  }
}

/** On disk when it resolves: an operation acts only then, so that a start after `kill -9` knows what was wanted. */
export async function writeOverrides(file: string, overrides: Overrides): Promise<void> {
  await writePrivateFile(file, `${JSON.stringify(overrides, undefined, 2)}\n`);
}
