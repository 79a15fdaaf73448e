import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectGeneratedBlocks } from './expect-generated.ts';

const folder = join(import.meta.dirname, '../../docs/decisions');
const files = readdirSync(folder).filter((name) => name !== 'README.md');
const page = /^# (?<number>\d{4}): (?<title>.+)\n\nStatus: accepted (?<date>\d{4}-\d\d-\d\d)(?:, (?<later>.+))?\.\n/;

function read(name: string) {
  const { number, title, date, later } = page.exec(readFileSync(join(folder, name), 'utf8'))?.groups ?? {};
  return { name, number, title, date, status: later ?? 'accepted', later };
}

describe.each(files.map(read))('docs/decisions/$name', ({ name, number, later }) => {
  it('begins with its number, its title and its status', () => {
    expect(name.slice(0, 4)).toBe(number);
  });

  it('names a decision that exists where it was superseded', () => {
    if (later === undefined) return;
    const [, label, target = ''] = /^superseded (?:in part )?by \[(\d{4})\]\((.+)\)$/.exec(later) ?? [];
    expect(files).toContain(target);
    expect(target.slice(0, 4)).toBe(label);
  });
});

it('docs/decisions/README.md lists every decision with its status and date', () =>
  expectGeneratedBlocks('docs/decisions/README.md', {
    index: [
      '| number | decision | status | date |',
      '| --- | --- | --- | --- |',
      ...files.map(read).map((one) => `| ${one.number} | [${one.title}](${one.name}) | ${one.status} | ${one.date} |`),
    ].join('\n'),
  }));
