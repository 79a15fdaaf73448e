import { describeAlerts, missingAlerts } from '../../../pager/pager-reader.ts';
import type { AlertProbe } from '../../format/schema.ts';
import type { RunContext } from '../run-context.ts';
import { type StepResult, unknown } from '../step-result.ts';

/** Whether an alert fires, as the pager has it. Silence counts only while alerts arrive. */
export async function probeAlert({ provider }: AlertProbe, { platform }: RunContext): Promise<StepResult> {
  const { name, state } = provider;
  const expected = `${name} ${state}`;
  const view = await platform.pager.view();
  const own = view.alerts.filter(({ alertname }) => alertname === name);
  const missing = missingAlerts(view.pipeline);
  if (own.length === 0 && missing !== undefined) return unknown(missing, { expected });
  const isFiring = own.length > 0;
  const observed = isFiring ? `firing: ${describeAlerts(own)}` : `silent; firing: ${describeAlerts(view.alerts)}`;
  return { verdict: isFiring === (state === 'firing') ? 'pass' : 'fail', expected, observed };
}
