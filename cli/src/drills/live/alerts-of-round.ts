import { nameOf, type Severity, severityOf } from '../../pager/alert.ts';
import type { Pager } from '../../pager/pager.ts';

/** Is about the past: a round may begin with a spent budget, and an earlier round may have spent it. */
const ABOUT_THE_PAST = 'ErrorBudgetSpent';

/** Whether an alert is something that a trainee has to respond to. */
export function isOfRound(alertname: string, severity: Severity): boolean {
  return (severity === 'page' || severity === 'ticket') && alertname !== ABOUT_THE_PAST;
}

export interface OpenAlert {
  readonly name: string;
  readonly severity: Severity;
}

/** What fires, is not silenced, and is for a trainee to respond to. */
export function openAlerts(pager: Pick<Pager, 'alerts'>): readonly OpenAlert[] {
  return pager
    .alerts()
    .filter(({ silencedBy }) => silencedBy.length === 0)
    .map(({ alert }) => ({ name: nameOf(alert), severity: severityOf(alert) }))
    .filter(({ name, severity }) => isOfRound(name, severity));
}
