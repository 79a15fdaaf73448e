/** Comments, quoted names, the literals of PostgreSQL's manual 4.1.2 (unterminated ones too), parameters, words, numbers. */
const PIECES =
  /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|"(?:[^"]|"")*"?|[eE]'(?:\\[\s\S]|''|[^'\\])*(?:'|$)|(?:[bBxXnN]|[uU]&)?'(?:''|[^'])*(?:'|$)|\$([A-Za-z_]\w*)?\$[\s\S]*?(?:\$\1\$|$)|\$\d+|[A-Za-z_][\w$]*|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** A statement in one line with `?` in place of each value: rows of customers are not for a screen. */
export function withoutValues(statement: string): string {
  const shape = statement.replace(PIECES, (piece) => {
    if (piece.startsWith('--') || piece.startsWith('/*')) return ' ';
    if (/^(?:"|\$\d)/.test(piece) || /^[A-Za-z_][\w$]*$/.test(piece)) return piece;
    return '?';
  });
  return shape.replace(/\s+/g, ' ').trim();
}
