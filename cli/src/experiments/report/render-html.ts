import { createHash } from 'node:crypto';
import type { JournalRecord } from '../journal-records.ts';
import { escapeHtml, html, type Markup } from './html.ts';
import { type PageAssets, readPageAssets } from './page-assets.ts';
import { readRun } from './read-run.ts';
import type { RunReport } from './run-report.ts';
import { auditSection } from './sections/audit.ts';
import { checksSection } from './sections/checks.ts';
import { clocksSection } from './sections/clocks.ts';
import { ordersSection } from './sections/orders.ts';
import { timelineSection } from './sections/timeline.ts';
import { verdictSection } from './sections/verdict.ts';
import { whatSection } from './sections/what.ts';
import { timelineOf } from './timeline.ts';

/**
 * One run as one HTML file that asks nothing of the network and works from anywhere, also for a journal that ends in the
 * middle. Throws CliError when the clone was never built.
 */
export function renderHtml(records: readonly JournalRecord[], assets: PageAssets = readPageAssets()): string {
  const report = readRun(records);
  const title = escapeHtml(`${report.experiment.id} ${report.verdict}: ${report.experiment.title}`);
  // Both end with their own element, and both are what the policy's hashes are made of.
  const script = assets.script.replaceAll('</script', '<\\/script');
  const style = assets.style.replaceAll('</style', '<\\/style');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policyOf({ script, style })}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
${bodyOf(report).text}
<script>${script}</script>
</body>
</html>
`;
}

/** Nothing may be loaded or sent; only this page's own script and style run, known by their hashes. */
function policyOf({ script, style }: PageAssets): string {
  const none = ['default-src', 'base-uri', 'form-action'].map((name) => `${name} 'none'`);
  return [...none, 'img-src data:', `script-src '${hashOf(script)}'`, `style-src '${hashOf(style)}'`].join('; ');
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

function bodyOf(report: RunReport): Markup {
  return html`${verdictSection(report)}
<main>
${whatSection(report)}
${clocksSection(report.clocks)}
${timelineSection(report, timelineOf(report))}
${checksSection(report)}
${auditSection(report.audit)}
${ordersSection(report.orders)}
</main>`;
}
