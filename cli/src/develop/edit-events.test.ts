import { describe, expect, it } from 'vitest';
import { CliError } from '../errors.ts';
import { createStyle } from '../output/style.ts';
import { describeEvent, type EditEvent } from './edit-events.ts';
import { parseErrors } from './type-errors.ts';

const text = (event: EditEvent) => describeEvent(event, createStyle({ enabled: false }));
const printed = [
  "services/orders/src/a.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.",
  '  The expected type comes from property "x"',
  '',
].join('\n');

describe('what tsc prints', () => {
  it('is read with file, place, code and message', () => {
    expect(parseErrors(printed)).toEqual([
      {
        file: 'services/orders/src/a.ts',
        line: 3,
        column: 7,
        code: 'TS2322',
        message: "Type 'string' is not assignable to type 'number'.",
      },
    ]);
  });

  it('is shown with the first ten errors, and how many there are', () => {
    const [error] = parseErrors(printed);
    const lines = text({ type: 'types', errors: Array(12).fill(error) }).split('\n');
    expect(lines).toHaveLength(12);
    expect(lines[0]).toBe('types: 12 errors');
    expect(lines[1]).toBe("  services/orders/src/a.ts:3:7 TS2322 Type 'string' is not assignable to type 'number'.");
    expect(lines.at(-1)).toBe('  and 2 more');
  });
});

it('the error of a build keeps its frame, and says that the earlier code runs on', () => {
  const problem = 'X [ERROR] Expected ";"\n\n    services/orders/src/a.ts:1:2:';
  expect(text({ type: 'build_failed', targets: ['orders'], problem })).toBe(
    `not built: orders; what was built before goes on running\n${problem}`,
  );
});

it('a refused change is shown with its reason and what to do', () => {
  const error = new CliError({
    code: 'change_refused',
    what: 'postgres refuses it',
    why: 'no table',
    next: 'correct it',
  });
  expect(text({ type: 'refused', error })).toBe('refused: postgres refuses it\n  no table\n  correct it');
});
