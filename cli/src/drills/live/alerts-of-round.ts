import type { Severity } from '../../pager/alert.ts';

/** Is about the past: a round may begin with a spent budget, and an earlier round may have spent it. */
const ABOUT_THE_PAST = 'ErrorBudgetSpent';

/** Whether an alert is something that a trainee has to respond to. */
export function isOfRound(alertname: string, severity: Severity): boolean {
  return (severity === 'page' || severity === 'ticket') && alertname !== ABOUT_THE_PAST;
}
