import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../errors.ts';
import { appendWhole, readLines, rotate, sizeOf } from '../platform/line-file.ts';
import type { Project } from '../platform/project.ts';
import { makeStateFolder } from '../platform/state-folder.ts';
import { writePrivateFile } from '../providers/private-file.ts';
import type { PagerEvent } from './page-event.ts';
import { applyEvent, emptyState, type PagerState, readState, writeState } from './pager-state.ts';

/** One part of the history has up to 2 MiB, some 4,000 events; one older part of the same size is kept. */
const MAX_BYTES = 2 * 1024 ** 2;

/** Where a pager keeps what it knows. */
export interface PagerFiles {
  readonly folder: string;
  /** The state up to one event. */
  readonly stateFile: string;
  /** Events, one a line. */
  readonly historyFile: string;
}

export function pagerFiles({ stateDir }: Pick<Project, 'stateDir'>): PagerFiles {
  const folder = join(stateDir, 'pager');
  return { folder, stateFile: join(folder, 'state.json'), historyFile: join(folder, 'history.jsonl') };
}

export interface PagerJournal {
  /** Resolves when the event is on disk. Rejects with what the file system reports. */
  append(events: readonly PagerEvent[], stateAfter: () => PagerState): Promise<void>;
  /** Writes the state, so that reading it again needs no event. */
  checkpoint(state: PagerState): Promise<void>;
}

/**
 * The state that was left on disk: the last checkpoint, and the events after it. An event is appended before it is reported to a
 * client, so a kill at any moment loses none that was. A checkpoint that cannot be read is set aside; what the history still has
 * replaces it, and `report` states so.
 */
export async function openPagerJournal(
  files: PagerFiles,
  report: (problem: string) => void,
  maxBytes = MAX_BYTES,
): Promise<{ state: PagerState; journal: PagerJournal }> {
  await makeStateFolder(files.folder);
  const state = await readCheckpoint(files.stateFile, report);
  const { values: events, unreadable } = await readHistory(files);
  for (const place of unreadable) report(`${place} was cut off and is ignored`);
  for (const event of events) if (event.sequence > state.sequence) applyEvent(state, event);
  const checkpoint = (current: PagerState) => writePrivateFile(files.stateFile, `${writeState(current)}\n`);
  return {
    state,
    journal: {
      async append(appended, stateAfter) {
        // Before the part with its events can be dropped, two rotations later.
        if ((await sizeOf(files.historyFile)) > maxBytes) {
          await checkpoint(stateAfter());
          await rotate(files.historyFile, maxBytes);
        }
        await appendWhole(files.historyFile, appended.map((event) => `${JSON.stringify(event)}\n`).join(''));
      },
      checkpoint,
    },
  };
}

/** Every event that is kept, the oldest first; needs no supervisor. */
export function readHistory({ historyFile }: PagerFiles) {
  return readLines(historyFile, isEvent);
}

function isEvent({ sequence, type, time }: PagerEvent): boolean {
  return typeof sequence === 'number' && typeof type === 'string' && typeof time === 'string';
}

async function readCheckpoint(file: string, report: (problem: string) => void): Promise<PagerState> {
  try {
    return readState(await readFile(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return emptyState();
    await rename(file, `${file}.unreadable`);
    report(`${file} cannot be read (${messageOf(error)}); it is kept as ${file}.unreadable, the history replaces it`);
    return emptyState();
  }
}
