import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inlineCommandsOf, readCommandLine, shellCommandsOf } from './command-lines.ts';

const root = join(import.meta.dirname, '../..');
const pages = globSync(['docs/**/*.md', '*.md'], { cwd: root }).toSorted();
const commandLine = readCommandLine();

it.each(pages)('%s shows commands that exist', (page) => {
  const text = readFileSync(join(root, page), 'utf8');
  const lines = [...shellCommandsOf(text), ...inlineCommandsOf(text).filter((line) => !commandLine.isName(line))];
  const wrong = lines.flatMap((line) => {
    try {
      commandLine.parse(line);
      return [];
    } catch (error) {
      return [`shopctl ${line}: ${(error as Error).message}`];
    }
  });
  expect(wrong).toEqual([]);
});

describe('commands of a page', () => {
  it('are those of its shell and between its backticks, without comments, pipes and files', () => {
    const page = [
      'See `shopctl ops db sessions orders`, `status`, `shopctl ops` and "shopctl up".',
      '```sh',
      'npx shopctl logs orders | grep -E "a|b"   # warnings',
      'xargs -I {} shopctl outbox redrive --order {} < lost.txt',
      '```',
      '```text',
      'shopctl of a text',
      '```',
    ].join('\n');
    expect(shellCommandsOf(page)).toEqual(['logs orders', 'outbox redrive --order {}']);
    expect(inlineCommandsOf(page)).toEqual(['ops db sessions orders', 'ops']);
    expect(['ops', 'ops db', 'ops --help', 'op', 'ops db sessions orders'].map(commandLine.isName)).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
  });

  it.each([
    ['ops db terminate PID --reason "it blocks orders"', 'ops db terminate'],
    ["db orders --command 'SELECT ID FROM orders'", 'db'],
    ['order', 'order place'],
  ])('%s is %s', (line, command) => {
    expect(commandLine.parse(line)).toBe(command);
  });

  it.each([
    ['ops db session', "unknown command 'session'"],
    ['ops db sessions --every', "unknown option '--every'"],
    ['ops db sessions order', 'there is no database order'],
    ['scale order=2', 'there is no service=count order'],
    ['reroute orders-shipping --via standby', 'there is no edge orders-shipping'],
    ['reroute EDGE', "required option '--via <way>' not specified"],
    ['restart PID', 'there is no service 6092'],
  ])('%s is refused', (line, message) => {
    expect(() => commandLine.parse(line)).toThrow(message);
  });
});
