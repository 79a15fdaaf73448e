/** Breaks text at spaces so that no line is longer than `width` where a space allows it. */
export function wrapText(text: string, width: number, indent = ''): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const extended = line === '' ? word : `${line} ${word}`;
    if (line !== '' && extended.length > width - indent.length) {
      lines.push(line);
      line = word;
    } else {
      line = extended;
    }
  }
  return [...lines, line].join(`\n${indent}`);
}

/** Cuts text to a width and says so with an ellipsis. */
export function cutText(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}
