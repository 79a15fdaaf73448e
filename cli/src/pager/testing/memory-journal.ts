import type { PagerEvent } from '../page-event.ts';
import type { PagerJournal } from '../pager-journal.ts';

/** Keeps what it is given; nothing is on disk. */
export function memoryJournal(): PagerJournal & { readonly events: PagerEvent[] } {
  const events: PagerEvent[] = [];
  return {
    events,
    async append(appended) {
      events.push(...appended);
    },
    async checkpoint() {},
  };
}
