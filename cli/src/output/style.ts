import { styleText } from 'node:util';

type Format = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan' | 'gray';

/** Paints text, or returns it unchanged where colours are off. */
export type Style = { readonly [F in Format]: (text: string) => string };

/** A style for a stream; `enabled` comes from `terminalOf`. */
export function createStyle({ enabled }: { enabled: boolean }): Style {
  // The decision is ours (terminal.ts), so styleText must not check stdout again.
  const paint = (format: Format) => (text: string) =>
    enabled ? styleText(format, text, { validateStream: false }) : text;
  return {
    bold: paint('bold'),
    dim: paint('dim'),
    red: paint('red'),
    green: paint('green'),
    yellow: paint('yellow'),
    blue: paint('blue'),
    magenta: paint('magenta'),
    cyan: paint('cyan'),
    gray: paint('gray'),
  };
}
