import type { Output } from './output.ts';
import { createProgress } from './progress.ts';

/** The same output, where each line for people begins with a label: several things are reported side by side. */
export function labelledOutput(output: Output, label: string): Output {
  const begin = output.style.dim(`${label} |`);
  const labelled = (text: string) => text.replaceAll(/^/gm, `${begin} `);
  const note = (text: string) => output.note(labelled(text));
  return {
    mode: output.mode,
    style: output.style,
    columns: output.columns,
    isTerminal: output.isTerminal,
    result: output.result,
    record: output.record,
    error: output.error,
    ring: output.ring,
    note,
    warn: (text) => output.warn(`${label.trimEnd()}: ${text}`),
    // Without redrawing: one line of a terminal cannot show several things at a time.
    progress: (text) =>
      createProgress({
        text,
        stream: { write: (lines: string) => note(lines.trimEnd()) },
        redraws: false,
        style: output.style,
      }),
  };
}
