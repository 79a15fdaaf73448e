import { CliError, messageOf } from '../../errors.ts';
import type { Output } from '../../output/output.ts';
import type { PagerEvent } from '../../pager/page-event.ts';
import { pagerFiles, readHistory } from '../../pager/pager-journal.ts';
import type { Project } from '../../platform/project.ts';

/** Every event that is kept; a line that was cut off is reported. Throws CliError (1) where the file cannot be read. */
export async function readPagerHistory(
  project: Project,
  { warn }: Pick<Output, 'warn'>,
): Promise<readonly PagerEvent[]> {
  const files = pagerFiles(project);
  try {
    const { values, unreadable } = await readHistory(files);
    for (const place of unreadable) warn(`${place} is not an event: it was cut off; the others are complete`);
    return values;
  } catch (cause) {
    throw new CliError({
      code: 'state_unreadable',
      what: 'the history of alerts cannot be read',
      why: messageOf(cause),
      next: `make ${files.historyFile} readable again`,
      cause,
    });
  }
}
