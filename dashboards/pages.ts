import type { Slo } from '../cli/src/slo/slo.ts';
import type { Page } from './model.ts';
import { messagingPage } from './pages/messaging.ts';
import { ordersPage } from './pages/orders.ts';
import { overviewPage } from './pages/overview.ts';
import { platformPage } from './pages/platform.ts';
import { servicePage } from './pages/service.ts';

export function pagesOf(slos: readonly Slo[]): readonly Page[] {
  return [overviewPage(slos), servicePage, ordersPage, messagingPage, platformPage];
}

/** Instruments of docs/metrics.md that no page shows, and why. */
export const notShown: Readonly<Record<string, string>> = {};
