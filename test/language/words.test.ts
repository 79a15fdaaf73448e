import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { blocksOf, commentsOf, sentencesOf } from './prose.ts';
import { bannedWords } from './words.ts';

const root = join(import.meta.dirname, '../..');
const MAX_WORDS = 30;

/** Generated from the definitions of the commands; their texts are checked there. */
const GENERATED = ['docs/cli.md'];

/** Lists of renamed options, keys and symbols: the old names have to stand there. */
const RENAMINGS = ['CHANGELOG.md'];

/** Sources whose comments use the terms; to be widened to tests and the command line. */
const SOURCES = ['kit/src/**/*.ts', 'services/*/src/**/*.ts'];

const pages = globSync(['docs/**/*.md', 'README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'], { cwd: root })
  .filter((path) => !GENERATED.includes(path))
  .toSorted();
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** `"word" -> what to write instead`. */
function bannedIn(text: string): readonly string[] {
  return bannedWords.flatMap(([pattern, instead]) => {
    const found = pattern.exec(text);
    return found === null ? [] : [`"${found[0]}" -> ${instead}`];
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
    const found = blocksOf(read(path)).flatMap(({ line, text }) =>
      bannedIn(text).map((word) => `${path}:${line}: ${word}`),
    );
    expect(found).toEqual([]);
  });

  it.each(pages)(`%s has no sentence over ${MAX_WORDS} words`, (path) => {
    expect(longIn(path)).toEqual([]);
  });
});

it('the comments of the services and their kit use the terms of the glossary', () => {
  const sources = globSync(SOURCES, { cwd: root }).filter((path) => !path.endsWith('.test.ts'));
  const found = sources.flatMap((path) =>
    commentsOf(read(path)).flatMap((comment) => bannedIn(comment).map((word) => `${path}: ${word}: ${comment}`)),
  );
  expect(found).toEqual([]);
});
