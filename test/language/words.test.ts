import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { blocksOf, commentsOf, literalsOf, namesOf, sentencesOf, titlesOf, wordsOf } from './prose.ts';
import { bannedWords } from './words.ts';

const root = join(import.meta.dirname, '../..');
const MAX_WORDS = 30;

/** Lists of renamed options, keys and symbols: the old names have to stand there. */
const RENAMINGS = ['CHANGELOG.md'];

/** Sources whose comments and titles of tests use the terms. */
const SOURCES = ['{cli,kit,services,scenarios,scripts,deploy,dashboards,test}/**/*.{ts,tsx,mjs}'];
/** Its titles and comments quote the words. */
const QUOTING = ['test/language/'];

/** Experiments, manifests and scripts, with their comments. Released migrations stay as they are. */
const DATA = [
  'chaos/**/*.yaml',
  'contracts/traces/*.json',
  'deploy/**/*.{yaml,md}',
  'drills/**/*.yaml',
  'proto/*.proto',
  '.ci/*',
  '.github/**/*.yml',
];

const pages = globSync(['docs/**/*.md', 'README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'], {
  cwd: root,
}).toSorted();
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

describe('the language of the sources', () => {
  const sources = globSync(SOURCES, { cwd: root, exclude: (path) => /(?:^|\/)(?:node_modules|dist)$/.test(path) })
    .filter((path) => !QUOTING.some((folder) => path.startsWith(folder)))
    .toSorted();

  it('has comments in the terms of the glossary', () => {
    const found = sources.flatMap((path) =>
      commentsOf(read(path))
        .flatMap((comment) => blocksOf(comment))
        .flatMap(({ text }) => bannedIn(text).map((word) => `${path}: ${word}: ${text}`)),
    );
    expect(found).toEqual([]);
  });

  it(`has no comment with a sentence over ${MAX_WORDS} words`, () => {
    const found = sources.flatMap((path) =>
      commentsOf(read(path))
        .flatMap((comment) => sentencesOf(comment))
        .filter(({ words }) => words > MAX_WORDS)
        .map(({ words, text }) => `${path}: ${words} words: ${text}`),
    );
    expect(found).toEqual([]);
  });

  it('has texts in the terms of the glossary', () => {
    const found = sources.flatMap((path) =>
      literalsOf(read(path))
        .flatMap((literal) => blocksOf(literal))
        .flatMap(({ text }) => bannedIn(text).map((word) => `${path}: ${word}: ${text}`)),
    );
    expect(found).toEqual([]);
  });

  it('has titles of tests in the terms of the glossary', () => {
    const found = sources.flatMap((path) =>
      titlesOf(read(path)).flatMap((title) => bannedIn(title).map((word) => `${path}: ${word}: ${title}`)),
    );
    expect(found).toEqual([]);
  });

  it('has names in the terms of the glossary', () => {
    const found = sources.flatMap((path) =>
      [wordsOf(path), ...namesOf(read(path))].flatMap((name) =>
        bannedIn(name).map((word) => `${path}: ${word}: ${name}`),
      ),
    );
    expect(found).toEqual([]);
  });
});

describe('the language of experiments, manifests and scripts', () => {
  it.each(globSync(DATA, { cwd: root }).toSorted())('%s uses the terms of the glossary', (path) => {
    expect(bannedIn(read(path).replaceAll(/\s+(?:# )?/g, ' '))).toEqual([]);
  });
});
