import { widthOf } from './width.ts';

/** Breaks text at spaces so that no line is wider than `width` where a space allows it. */
export function wrapText(text: string, width: number, indent = ''): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const extended = line === '' ? word : `${line} ${word}`;
    if (line !== '' && widthOf(extended) > width - widthOf(indent)) {
      lines.push(line);
      line = word;
    } else {
      line = extended;
    }
  }
  return [...lines, line].join(`\n${indent}`);
}
