import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { blocksOf, sentencesOf } from './prose.ts';
import { bannedWords } from './words.ts';

const root = join(import.meta.dirname, '../..');
const MAX_WORDS = 30;

/** Generated from the definitions of the commands; their texts are checked there. */
const GENERATED = ['docs/cli.md'];

/** Lists of renamed options, keys and symbols: the old names have to stand there. */
const RENAMINGS = ['CHANGELOG.md'];

/** Terms that contain a banned word and are not ours to change. Each has its reason. */
const allowed: readonly RegExp[] = [];

const pages = globSync(['docs/**/*.md', 'README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'], { cwd: root })
  .filter((path) => !GENERATED.includes(path))
  .toSorted();
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** `line: word -> what to write instead`. */
function bannedIn(path: string): readonly string[] {
  return blocksOf(read(path)).flatMap(({ line, text }) => {
    const own = allowed.reduce((rest, term) => rest.replaceAll(term, ''), text);
    return bannedWords.flatMap(([pattern, instead]) => {
      const found = pattern.exec(own);
      return found === null ? [] : [`${path}:${line}: "${found[0]}" -> ${instead}`];
    });
  });
}

function longIn(path: string): readonly string[] {
  if (RENAMINGS.includes(path)) return [];
  return sentencesOf(read(path))
    .filter(({ words }) => words > MAX_WORDS)
    .map(({ line, words, text }) => `${path}:${line}: ${words} words: ${text}`);
}

describe('the language of the pages', () => {
  it.each(pages)('%s uses the terms of the glossary', (path) => {
    expect(bannedIn(path)).toEqual([]);
  });

  it.each(pages)(`%s has no sentence over ${MAX_WORDS} words`, (path) => {
    expect(longIn(path)).toEqual([]);
  });
});
