import { failpoints } from '../../kit/src/failpoint-names.ts';
import {
  createFailpoints,
  ForcedResponseError,
  parseArmedFailpoint,
  ReplyDroppedError,
} from '../../kit/src/failpoints.ts';
import { openHarness } from '../../kit/src/harness.ts';
import { seededBugs } from '../../kit/src/seeded-bug-names.ts';
import { parseSeededBugs, warnOfSeededBugs } from '../../kit/src/seeded-bugs.ts';

const readers = [createFailpoints, parseArmedFailpoint, openHarness, parseSeededBugs];
const errors = [ForcedResponseError, ReplyDroppedError];

/** What a harness build of a service contains: its failpoints and seeded bugs by name, and the code that reads them. */
export function harnessCodeOf(service: string): readonly string[] {
  const own = Object.entries(seededBugs).filter(([, bug]) => bug.service === service);
  return [
    ...Object.keys(failpoints[service as keyof typeof failpoints]),
    ...own.map(([name]) => name),
    ...readers.map(({ name }) => name),
  ];
}

/** What no production build contains. */
const forbidden = [
  ...Object.values(failpoints).flatMap((places) => Object.keys(places)),
  ...Object.keys(seededBugs),
  ...[...readers, warnOfSeededBugs, ...errors].map(({ name }) => name),
  ': seeded bug',
  'drop-reply',
  'HARNESS:',
];

/** The harness's names and code in a text; a production build has none. */
export function harnessCodeIn(text: string): readonly string[] {
  return forbidden.filter((name) => text.includes(name));
}
