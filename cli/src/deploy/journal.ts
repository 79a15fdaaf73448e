import { join } from 'node:path';
import { appendWhole, readLines, rotate } from '../platform/line-file.ts';
import type { Project } from '../platform/project.ts';
import { makeStateFolder } from '../platform/state-folder.ts';
import type { JournalRecord } from './run.ts';

/** What happened to deploys, on disk before it has consequences. */
export interface DeployJournal {
  /** Resolves when it is on disk. */
  append(...records: readonly JournalRecord[]): Promise<void>;
  /** Every record that is kept, the oldest first. */
  read(): Promise<readonly JournalRecord[]>;
}

/** One file has up to 4 MiB, thousands of deploys; one older part is kept. */
const MAX_BYTES = 4 * 1024 ** 2;

export function deployJournalFile({ stateDir }: Pick<Project, 'stateDir'>): string {
  return join(stateDir, 'deploys.jsonl');
}

/** Lines that a kill or a power failure has cut off are reported, and left out. */
export function createDeployJournal(
  project: Pick<Project, 'stateDir'>,
  report: (problem: string) => void,
  { maxBytes = MAX_BYTES } = {},
): DeployJournal {
  const file = deployJournalFile(project);
  return {
    async append(...records) {
      await makeStateFolder(project.stateDir);
      // A deploy that goes on has its beginning in one of the two parts.
      await rotate(file, maxBytes);
      await appendWhole(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    },
    async read() {
      const { values, unreadable } = await readLines(file, isRecord);
      for (const place of unreadable) report(`${place} is not a record of a deploy`);
      return values;
    },
  };
}

function isRecord({ run, kind }: JournalRecord): boolean {
  return typeof run === 'string' && typeof kind === 'string';
}
