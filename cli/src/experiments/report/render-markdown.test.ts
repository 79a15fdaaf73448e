import { describe, expect, it } from 'vitest';
import { renderMarkdown } from './render-markdown.ts';
import { syntheticJournal } from './testing/synthetic-journal.ts';

describe('the Markdown summary of a run', () => {
  it('has the verdict, its reasons, the faults with their witnesses, what did not hold, and the numbers', () => {
    const text = renderMarkdown(syntheticJournal());
    expect(text).toContain('## E08 Payments slower than the attempt timeout: fail');
    expect(text).toContain('- I7: 59 shipments of 60');
    expect(text).toContain('| latency | orders-payments | observed: a canary got a response after 5,004 ms |');
    expect(text).toContain(
      '| immediate responses with the breaker open: fail | each response in at most 300 ms | p95 4.52 s |',
    );
    expect(text).toContain('| before | 16 | 16 | 0 | 0 | 0 |');
    expect(text).toContain('First symptom after 688 ms, steady 2.26 s and drained 3.06 s after the revert.');
  });

  it('says that a journal without a verdict has none', () => {
    expect(renderMarkdown(syntheticJournal({ verdict: 'none' }))).toContain(': interrupted, no verdict');
  });

  it('keeps its tables whatever the text, and lets none of it be markup', () => {
    const text = renderMarkdown(syntheticJournal({ text: (plain) => `<img src=x>|\n# [a](b) \`c\` ${plain}` }));
    const rows = text.split('\n').filter((line) => line.startsWith('| '));
    for (const row of rows) expect(row.match(/(?<!\\)\|/g)?.length).toBeGreaterThan(3);
    expect(text).not.toMatch(/(?<!\\)[<`[]/);
    expect(text.match(/^#/gm)).toHaveLength(1);
  });
});
