import { CliError } from '../errors.ts';

/** The beginning of a UUID as the range of UUIDs that begin so; PostgreSQL compares UUIDs byte by byte. */
export interface IdRange {
  /** As typed, in lower case. */
  readonly text: string;
  readonly lowest: string;
  readonly highest: string;
}

const SHORTEST_PREFIX = 6;
const HEX_DIGITS = 32;

/** Parses an id, or at least 6 hexadecimal digits of its beginning, with or without dashes. Throws CliError (2). */
export function parseIdPrefix(input: string, what: string): IdRange {
  const text = input.trim().toLowerCase();
  const digits = text.replaceAll('-', '');
  if (!/^[0-9a-f]{6,32}$/.test(digits) || !(text === digits || withDashes(digits).startsWith(text))) {
    throw new CliError({
      code: 'invalid_id',
      what: `"${input.slice(0, 60)}" is not an ${what} id`,
      why: `an id is a UUID; its first ${SHORTEST_PREFIX} characters or more are enough while they are unique`,
      next: what === 'order' ? 'list orders with "shopctl order list"' : 'list rows with "shopctl outbox ls"',
    });
  }
  return {
    text,
    lowest: withDashes(digits.padEnd(HEX_DIGITS, '0')),
    highest: withDashes(digits.padEnd(HEX_DIGITS, 'f')),
  };
}

/** The ids found in a range must be one. Throws CliError (1) when there is none, or several. */
export function requireUnique(ids: readonly string[], range: IdRange, what: string, listCommand: string): string {
  const [only, ...more] = ids;
  if (only === undefined) {
    throw new CliError({
      code: what === 'order' ? 'order_not_found' : 'event_not_found',
      what: `there is no ${what} ${range.text}`,
      why: `no ${what} id in this project's database begins so`,
      next: `list them with "${listCommand}"; another copy of the platform is chosen with --project`,
    });
  }
  if (more.length === 0) return only;
  throw new CliError({
    code: 'ambiguous_id',
    what: `"${range.text}" is not unique`,
    why: `several ${what} ids begin so:\n${ids.join('\n')}`,
    next: 'give more characters of the id',
  });
}

function withDashes(digits: string): string {
  const parts = [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)];
  return parts.filter((part) => part !== '').join('-');
}
