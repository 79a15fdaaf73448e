import { messageOf } from '../../errors.ts';
import type { Probe, Step } from '../format/schema.ts';
import { probeAlert } from './providers/alert.ts';
import { probeAudit } from './providers/audit.ts';
import { probeEvent } from './providers/event.ts';
import { injectFault } from './providers/fault.ts';
import { probeHistory } from './providers/history.ts';
import { probeHttp } from './providers/http.ts';
import { startLoad, stopLoad } from './providers/load.ts';
import { probeLog } from './providers/log.ts';
import { probeMetric } from './providers/metric.ts';
import { placeOrders } from './providers/orders.ts';
import { probeProcess } from './providers/process.ts';
import { type PublishStep, publishMessages } from './providers/publish.ts';
import { probeQueue } from './providers/queue.ts';
import { probeReadiness } from './providers/ready.ts';
import { revert } from './providers/revert.ts';
import { actOnService } from './providers/service.ts';
import { probeSql } from './providers/sql.ts';
import { probeTraces } from './providers/trace.ts';
import type { RunContext } from './run-context.ts';
import { type StepResult, unknown } from './step-result.ts';

/** A step that its provider runs; holds and joins are the engine's. */
export type ExecutableStep = Exclude<
  Step,
  { readonly type: 'hold' } | { readonly provider: { readonly type: 'join' } }
>;

/** One look of a probe, or an action. Throws only when the run's signal has aborted: what cannot be done is unknown. */
export async function execute(step: ExecutableStep, context: RunContext): Promise<StepResult> {
  try {
    return await (step.type === 'probe' ? look(step, context) : act(step, context));
  } catch (error) {
    context.signal.throwIfAborted();
    return unknown(messageOf(error));
  }
}

function act(step: Exclude<ExecutableStep, Probe>, context: RunContext): Promise<StepResult> | StepResult {
  switch (step.provider.type) {
    case 'orders':
      return placeOrders(step.name, step.provider, undefined, context);
    case 'fault':
      return injectFault(step as Extract<ExecutableStep, { witness: unknown }>, context);
    case 'revert':
      return revert(step.provider, context);
    case 'service':
      return actOnService(step.provider, context);
    case 'publish':
      return publishMessages(step as PublishStep, context);
    case 'load':
      return startLoad(step.name, step.provider, context);
    case 'stop-load':
      return stopLoad(step.provider.of, context);
  }
}

type OfProbe<T extends string> = Extract<Probe, { readonly provider: { readonly type: T } }>;

function look(step: Probe, context: RunContext): Promise<StepResult> {
  switch (step.provider.type) {
    case 'orders': {
      const { name, provider, tolerance } = step as OfProbe<'orders'>;
      return placeOrders(name, provider, tolerance, context);
    }
    case 'history':
      return probeHistory(step as OfProbe<'history'>, context);
    case 'trace':
      return probeTraces(step as OfProbe<'trace'>, context);
    case 'metric':
      return probeMetric(step as OfProbe<'metric'>, context);
    case 'sql':
      return probeSql(step as OfProbe<'sql'>, context);
    case 'http':
      return probeHttp(step as OfProbe<'http'>, context);
    case 'ready':
      return probeReadiness(step as OfProbe<'ready'>, context);
    case 'log':
      return probeLog(step as OfProbe<'log'>, context);
    case 'queue':
      return probeQueue(step as OfProbe<'queue'>, context);
    case 'process':
      return probeProcess(step as OfProbe<'process'>, context);
    case 'alert':
      return probeAlert(step as OfProbe<'alert'>, context);
    case 'audit':
      return probeAudit(step as OfProbe<'audit'>, context);
    case 'event':
      return probeEvent(step as OfProbe<'event'>, context);
  }
}

/** These wait on their own as long as `within` says. */
export function waitsInternally({ provider }: { readonly provider: { readonly type: string } }): boolean {
  return provider.type === 'trace';
}
