import { missingAlerts } from '../../pager/pager-reader.ts';
import type { EventCondition } from '../format/schema.ts';
import type { EventCount } from './event-count.ts';
import type { RunContext } from './run-context.ts';

type Fired = Extract<EventCondition, { event: 'alert.fired' }>;

/**
 * How often an alert began to fire since the run began; without a name any page. Fewer than asked for are believed only where alerts
 * arrived all the time.
 */
export async function countFired(
  { name, 'at-least': least }: Fired,
  { baselines, platform }: Pick<RunContext, 'baselines' | 'platform'>,
): Promise<EventCount> {
  const since = baselines.get('start')?.time;
  if (since === undefined) return { count: undefined, evidence: 'the start of the run is not known' };
  const { pipeline } = await platform.pager.view();
  const events = (await platform.pager.history()).filter(({ time }) => Date.parse(time) >= since);
  const fired = events.flatMap((event) =>
    event.type === 'fired' && (name === undefined ? event.severity === 'page' : event.alertname === name)
      ? [`${event.alertname} at ${event.time}`]
      : [],
  );
  const wasLost = events.some((event) => event.type === 'pipeline' && event.status === 'lost');
  const missing = missingAlerts(pipeline) ?? (wasLost ? 'alerts did not arrive for a time' : undefined);
  if (missing !== undefined && fired.length < least) return { count: undefined, evidence: missing };
  return { count: fired.length, evidence: fired.join(', ') || 'the pager has none' };
}
