import { LATE_MS, startOpenLoop } from '../../../shared/open-loop.ts';
import type { LoadProvider } from '../../format/schema.ts';
import { createRandom } from '../random.ts';
import type { RunContext } from '../run-context.ts';
import type { Load, LoadSummary } from '../running-loads.ts';
import { type StepResult, unknown } from '../step-result.ts';
import { keyOf, linesOf } from './orders.ts';
import { placeOrder } from './place-order.ts';

/**
 * Starts orders at a rate, whatever becomes of them (open loop): a system that slows down gets no fewer. Arrivals are
 * evenly apart or, `random`, independent of each other, by the seed.
 */
export function startLoad(step: string, provider: LoadProvider, context: RunContext): StepResult {
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, context.signal]);
  context.loads.add(step, { stop: () => over.abort(), done: run(step, provider, signal, context) } satisfies Load);
  const limit = provider.for === undefined ? 'until it is stopped' : `for ${provider.for} ms`;
  return { verdict: 'pass', observed: `${provider.rate} orders per second ${limit}` };
}

async function run(
  step: string,
  provider: LoadProvider,
  signal: AbortSignal,
  context: RunContext,
): Promise<LoadSummary> {
  const { clock, seed, runId, orders } = context;
  const random = createRandom(`${seed} ${step}`);
  const gapMs = () => (provider.arrivals === 'random' ? -Math.log(1 - random()) : 1) * (1000 / provider.rate);
  const send = () => {
    const key = keyOf(provider.key, runId, orders.orders.length + 1);
    return placeOrder({ step, key, lines: linesOf(provider) }, provider.timeout, context);
  };
  const { counts, done } = startOpenLoop({ clock, signal, forMs: provider.for, gapMs, send });
  await done;
  return counts;
}

/**
 * Ends a load and waits for the responses that are due. A generator that could not keep up makes what it shows unknown.
 */
export async function stopLoad(step: string, { loads }: Pick<RunContext, 'loads'>): Promise<StepResult> {
  const load = loads.take(step);
  if (load === undefined) return unknown(`"${step}" was never started`);
  load.stop();
  return checkLoad(await load.done);
}

/** The same, at the load's own end. */
export async function joinLoad({ done }: Load): Promise<StepResult> {
  return checkLoad(await done);
}

/** More than one order in twenty sent late is another load than was asked for. */
export function checkLoad({ sent, late }: LoadSummary): StepResult {
  const observed = `${sent} orders sent${late > 0 ? `, ${late} of them more than ${LATE_MS} ms late` : ''}`;
  return late > sent / 20
    ? unknown(observed, { expected: 'orders sent at their time' })
    : { verdict: 'pass', observed };
}
