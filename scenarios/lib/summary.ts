import { summaryFile } from './environment.ts';

/**
 * Writes the whole summary, with what became of each threshold, to SHOP_SUMMARY. Nothing is undone at the end of a run: what
 * the orders left is what the audit looks at.
 */
export function handleSummary(data: unknown): Record<string, string> {
  return summaryFile === undefined
    ? { stdout: `${JSON.stringify(data, null, 2)}\n` }
    : { [summaryFile]: JSON.stringify(data) };
}
