import { describe, expect, it } from 'vitest';
import { blocksOf, commentsOf, literalsOf, namesOf, sentencesOf, titlesOf, wordsOf } from './prose.ts';

const textsOf = (markdown: string) => sentencesOf(markdown).map(({ text }) => text);

describe('sentencesOf', () => {
  it('ends a sentence at a full stop before a capital, also over lines', () => {
    expect(textsOf('One sentence\nover two lines. Another one? A third.')).toEqual([
      'One sentence over two lines.',
      'Another one?',
      'A third.',
    ]);
  });

  it('ends no sentence in a number, a file name, a version or an abbreviation', () => {
    expect(textsOf('It takes 1.5 s on Node 24.21 (see main.ts, e.g. its end) and ends.')).toHaveLength(1);
  });

  it('counts inline code, a quotation and a link each as the words that a reader reads', () => {
    const [sentence] = sentencesOf('Run `npm run a b c` when "it is not so good" at [the page](a/b/c.md#d) = 3.');
    expect(sentence?.text).toBe('Run CODE when QUOTATION at the page = 3.');
    expect(sentence?.words).toBe(8);
  });

  it('ends a sentence with its heading, paragraph or list item', () => {
    expect(textsOf('# Title\nText\n\n- first\n- second\n  line\n1. third')).toEqual([
      'Title',
      'Text',
      'first',
      'second line',
      'third',
    ]);
  });

  it('leaves out code, tables, quotations, comments and generated blocks', () => {
    const markdown =
      '```sh\na b\n```\n| a | b |\n> said\n\n<!-- note -->\n<!-- list: npm run x -->\nmade\n<!-- /list -->\nkept';
    expect(textsOf(markdown)).toEqual(['kept']);
  });

  it('gives the line on which the block begins', () => {
    expect(sentencesOf('```\ncode\n```\n\nfirst\nline. Next.').map(({ line }) => line)).toEqual([5, 5]);
  });
});

it('blocksOf has the cells of tables, without quotations and code', () => {
  expect(blocksOf('| `a` | is "no x" so |').map(({ text }) => text)).toEqual(['CODE', 'is QUOTATION so']);
});

describe('commentsOf', () => {
  it('has the comments of a source, and no URL or pattern', () => {
    const source = "/** One `a`\n * two. */\nconst url = 'http://x.example/ y/*/z'; // is no x\n";
    expect(commentsOf(source)).toEqual(['One `a`\ntwo.', 'is no x']);
  });

  it('takes consecutive lines as one comment', () => {
    expect(commentsOf('  // One\n  // sentence.\n  call();\n  // Another.\n')).toEqual(['One\nsentence.', 'Another.']);
  });
});

describe('literalsOf', () => {
  it('has the texts of literals of each kind, without names of one word', () => {
    const source = `const a = 'one text'; const b = "it's \\"two\\" texts"; import 'node:fs'; const c = \`three\n  texts\`;`;
    expect(literalsOf(source)).toEqual(['one text', `it's  two  texts`, 'three\n  texts']);
  });

  it('has the texts around and within what a template inserts', () => {
    const source = `note(\`\${count} of \${isOne ? \`one text\` : more({ a: 'b c' })} left\`);`;
    expect(literalsOf(source)).toEqual(['one text', 'b c', 'CODE  of  CODE  left']);
  });

  it('takes no quotation mark of a comment or a pattern for the beginning of one', () => {
    const source = "// it's\n/* a 'b */ const p = /['\"\\/]x y/g; const q = a / b; const t = 'a text'; // don't";
    expect(literalsOf(source)).toEqual(['a text']);
  });
});

it('namesOf has the names of the code as words, and none of comments, literals and patterns', () => {
  const source = `const deadLetterQueue = f('one_name', \`two \${MAX_TRIES} names\`); // three\nconst p = /fourNames/.test(a);`;
  expect(namesOf(source)).toEqual(['const', 'dead letter queue', 'f', 'max tries', 'p', 'test', 'a']);
  expect(wordsOf('cli/src/dead-letters.test.ts')).toBe('cli src dead letters test ts');
});

it('titlesOf has the titles of tests and groups, also of those with cases', () => {
  const source =
    "describe('a', () => {\n  it.each(['x', f(1)])('b %s', () => {});\n  it(`c's`, { timeout: 1 }, run);\n});";
  expect(titlesOf(source)).toEqual(['a', 'b %s', "c's"]);
});
