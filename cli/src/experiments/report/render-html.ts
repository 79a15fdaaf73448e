import { auditSection } from '../../report/audit-section.ts';
import { html, type Markup } from '../../report/html.ts';
import { type PageAssets, readPageAssets } from '../../report/page-assets.ts';
import { standalonePage } from '../../report/standalone-page.ts';
import { timelineOf } from '../../report/timeline.ts';
import type { JournalRecord } from '../journal-records.ts';
import { readRun } from './read-run.ts';
import type { RunReport } from './run-report.ts';
import { checksSection } from './sections/checks.ts';
import { clocksSection } from './sections/clocks.ts';
import { ordersSection } from './sections/orders.ts';
import { timelineSection } from './sections/timeline.ts';
import { verdictSection } from './sections/verdict.ts';
import { whatSection } from './sections/what.ts';

/**
 * One run as one HTML file that asks nothing of the network and works from anywhere, also for a journal that ends in the
 * middle. Throws CliError when the clone was never built.
 */
export function renderHtml(records: readonly JournalRecord[], assets: PageAssets = readPageAssets()): string {
  const report = readRun(records);
  return standalonePage({
    title: `${report.experiment.id} ${report.verdict}: ${report.experiment.title}`,
    ...assets,
    body: bodyOf(report),
  });
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
