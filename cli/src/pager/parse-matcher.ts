import { createMatcher, type Matcher } from './matcher.ts';

/** Text that cannot be read as a matcher; the message is Alertmanager's. */
export class BadMatcherError extends Error {
  override readonly name = 'BadMatcherError';
}

/** Name, operator and value; `=~` stands before `=`, so that its `~` is not a part of the value. */
const CLASSIC = /^\s*([a-zA-Z_:][a-zA-Z0-9_:]*)\s*(=~|=|!=|!~)\s*(.*?)\s*$/s;
/** The same for names of any characters, where name and value may be quoted. */
const RESERVED = '\\s{}!=~,\\\\"\'`';
const TOKEN = `"(?:[^"\\\\]|\\\\.)*"|[^${RESERVED}]+`;
const UTF8 = new RegExp(`^\\s*(${TOKEN})\\s*(=~|=|!=|!~)\\s*(${TOKEN})\\s*,?\\s*$`, 'su');

/**
 * A matcher as `filter=` and `amtool` have it: `severity=page`, `alertname=~"Outbox.*"`, `"a name"!="x"`. What both of Alertmanager's
 * parsers take means what the classic one says (its "fallback" mode). Throws BadMatcherError or BadPatternError.
 */
export function parseMatcher(text: string): Matcher {
  if (text.startsWith('{') || text.endsWith('}')) throw new BadMatcherError(`unexpected open or close brace: ${text}`);
  try {
    return parseClassic(text);
  } catch (error) {
    if (!(error instanceof BadMatcherError)) throw error;
    const [, name, operator, value] = UTF8.exec(text) ?? [];
    if (name === undefined || value === undefined) throw error;
    return toMatcher(unquoteGo(name, error), operator as string, unquoteGo(value, error));
  }
}

function parseClassic(text: string): Matcher {
  const [, name, operator, raw] = CLASSIC.exec(text) ?? [];
  if (name === undefined || raw === undefined) throw new BadMatcherError(`bad matcher format: ${text}`);
  return toMatcher(name, operator as string, unquoteClassic(raw));
}

function toMatcher(name: string, operator: string, value: string): Matcher {
  return createMatcher({ name, value, isRegex: operator.endsWith('~'), isEqual: !operator.startsWith('!') });
}

/** OpenMetrics: `\"`, `\n` and `\\` are escapes, any other backslash is itself. Quotes stand around the whole value only. */
function unquoteClassic(raw: string): string {
  const isQuoted = raw.startsWith('"');
  const problem = new BadMatcherError(`matcher value contains unescaped double quote: ${raw}`);
  const text = isQuoted ? raw.slice(1) : raw;
  let value = '';
  let isClosed = !isQuoted;
  for (let index = 0; index < text.length; index++) {
    const character = text[index] as string;
    const isLast = index === text.length - 1;
    if (character === '"') {
      if (isClosed || !isLast) throw problem;
      isClosed = true;
    } else if (character === '\\' && !isLast) {
      index += 1;
      value += unescapeClassic(text[index] as string);
    } else value += character;
  }
  if (!isClosed) throw problem;
  return value;
}

function unescapeClassic(character: string): string {
  if (character === 'n') return '\n';
  return character === '"' || character === '\\' ? character : `\\${character}`;
}

const GO_ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '"': '"',
};
const GO_ESCAPE = /\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|([0-7]{3})|(.))/gis;

/** A string as Go writes it; what is not quoted is itself. */
function unquoteGo(token: string, problem: BadMatcherError): string {
  if (!token.startsWith('"')) return token;
  return token.slice(1, -1).replace(GO_ESCAPE, (_, hex, short, long, octal, character) => {
    const code = hex ?? short ?? long ?? octal;
    if (code === undefined && Object.hasOwn(GO_ESCAPES, character)) return GO_ESCAPES[character] as string;
    const point = code === undefined ? Number.NaN : Number.parseInt(code, octal === undefined ? 16 : 8);
    if (!(point <= 0x10ffff)) throw problem;
    return String.fromCodePoint(point);
  });
}
