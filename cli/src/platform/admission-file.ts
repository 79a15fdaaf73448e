import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAdmissionSettings } from '@shop/kit/admission-settings.ts';
import { CliError, messageOf } from '../errors.ts';
import type { Project } from './project.ts';
import { writeSharedFile } from './shared-file.ts';

/** A separate folder, because a container sees a file that is replaced only when it is given the folder. */
export function admissionFolder({ stateDir }: Pick<Project, 'stateDir'>): string {
  return join(stateDir, 'admission');
}

/** The file that running gateways look at, in the project's folder or where that is mounted; it need not exist. */
export function admissionFile(folder: string): string {
  return join(folder, 'admission.json');
}

/** The share of new orders that are shed, 0 to 100. Throws CliError when the file cannot be read. */
export async function readShedPercent(file: string): Promise<number> {
  try {
    return parseAdmissionSettings(await readFile(file, 'utf8')).shedPercent;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw new CliError({
      code: 'state_unreadable',
      what: 'the share of orders that are shed cannot be read',
      why: `${file}: ${messageOf(error)}`,
      next: 'correct the file, or delete it: no order is shed then',
      cause: error,
    });
  }
}

export async function writeShedPercent(file: string, shedPercent: number): Promise<void> {
  await writeSharedFile(file, `${JSON.stringify({ shedPercent })}\n`);
}
