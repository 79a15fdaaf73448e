import type { Profile } from '../../cli/src/slo/profiles.ts';
import { badRate, badRatio, seriesOf, totalRate, windowIn } from '../../cli/src/slo/series.ts';
import { type Burn, budgetOf, type Slo } from '../../cli/src/slo/slo.ts';
import { windowS } from '../../cli/src/slo/window.ts';
import type { PageId } from '../model.ts';
import { type Alert, and } from './alert.ts';

/** The dashboard that shows an SLO's alerts. */
const pageOfSlo: Readonly<Record<string, PageId>> = {
  'orders-availability': 'orders',
  'orders-latency': 'orders',
  'shipments-freshness': 'messaging',
  'queue-age': 'messaging',
};

export function burnAlerts(slo: Slo, profile: Profile): readonly Alert[] {
  return slo.alerts.flatMap(({ name, summary, impact, burns }) =>
    burns.map(
      (burn): Alert => ({
        name,
        severity: burn.severity,
        labels: { burn: burn.name },
        expr: burnExpression(slo, burn, profile),
        summary,
        impact,
        dashboard: pageOfSlo[slo.name] ?? 'overview',
        slo: slo.name,
      }),
    ),
  );
}

/**
 * Both windows burn faster than the threshold. The long one says that it matters, the short one that it goes on. A few
 * requests do not say anything about a share.
 */
function burnExpression(slo: Slo, burn: Burn, profile: Profile): string {
  const [long, short] = [windowIn(profile, burn.long), windowIn(profile, burn.short)];
  const budget = budgetOf(slo, profile.name);
  const threshold = `(${burn.threshold} * ${budget})`;
  const { requests, bad } = profile.guard;
  return and(
    `${seriesOf(badRatio(long), slo)} > ${threshold}`,
    `${seriesOf(badRatio(short), slo)} > ${threshold}`,
    `round(${seriesOf(totalRate(long), slo)} * ${windowS(long)}) >= ${requests}`,
    // Where so few cannot be the share of so many, there is nothing to guard.
    ...(burn.threshold * budget * requests > bad - 1
      ? []
      : [`round(${seriesOf(badRate(long), slo)} * ${windowS(long)}) >= ${bad}`]),
  );
}
