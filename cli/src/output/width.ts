import cliTruncate from 'cli-truncate';
import stringWidth from 'string-width';

// Nearly all texts; the libraries for the others are loaded by their first call (scripts/build.mjs), which takes 20 to 60 ms.
const PRINTABLE_ASCII = /^[ -~]*$/;

/** Columns that a text takes on a terminal: colours take none, wide characters (Unicode, UAX 11) two. */
export function widthOf(text: string): number {
  return PRINTABLE_ASCII.test(text) ? text.length : stringWidth(text);
}

/** Cuts text to so many columns, at least one, and says so with an ellipsis. */
export function cutText(text: string, width: number): string {
  const columns = Math.max(1, width);
  if (widthOf(text) <= columns) return text;
  return PRINTABLE_ASCII.test(text) ? `${text.slice(0, columns - 1)}…` : cliTruncate(text, columns);
}

/** Adds spaces behind the text up to so many columns, or before it when `width` is negative. */
export function padText(text: string, width: number): string {
  const spaces = ' '.repeat(Math.max(0, Math.abs(width) - widthOf(text)));
  return width < 0 ? `${spaces}${text}` : `${text}${spaces}`;
}
