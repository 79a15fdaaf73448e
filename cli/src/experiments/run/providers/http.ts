import { messageOf } from '../../../errors.ts';
import { httpPort, type InstanceState } from '../../../platform/state.ts';
import { worst } from '../../../shared/verdict.ts';
import type { HttpProbe } from '../../format/schema.ts';
import { concerns } from '../process-events.ts';
import type { RunContext } from '../run-context.ts';
import { type StepResult, unknown } from '../step-result.ts';
import { describeTolerance, isWithin, round, type Value } from '../tolerance.ts';

/** Longest wait for a response, ms. */
const LIMIT_MS = 12_000;

/** GET at every instance that is meant. No response is a failure: the request was sent, and that is its result. */
export async function probeHttp({ provider, tolerance }: HttpProbe, { platform }: RunContext): Promise<StepResult> {
  const { instances } = await platform.connection.control.state();
  const chosen = instances.filter(({ name, kind }) => kind === 'service' && concerns(name, provider.service));
  const expected = describe(tolerance);
  if (chosen.length === 0) return unknown(`no instance of ${provider.service} is running`, { expected });
  const results = await Promise.all(chosen.map((instance) => ask(instance, provider.path, tolerance)));
  return {
    verdict: worst(results.map(({ verdict }) => verdict)),
    expected,
    observed: results.map(({ observed }) => observed).join('; '),
  };
}

async function ask(instance: InstanceState, path: string, tolerance: HttpProbe['tolerance']): Promise<StepResult> {
  const began = performance.now();
  try {
    const url = `http://127.0.0.1:${httpPort(instance)}${path}`;
    const response = await fetch(url, { signal: AbortSignal.timeout(LIMIT_MS) });
    const text = await response.text();
    return check(instance.name, { status: response.status, text, tookMs: performance.now() - began }, tolerance);
  } catch (error) {
    return {
      verdict: 'fail',
      observed: `${instance.name}: no response: ${messageOf((error as Error).cause ?? error)}`,
    };
  }
}

interface HttpResult {
  readonly status: number;
  readonly text: string;
  readonly tookMs: number;
}

function check(name: string, { status, text, tookMs }: HttpResult, tolerance: HttpProbe['tolerance']): StepResult {
  const problems: string[] = [];
  if (tolerance.status !== undefined && !isWithin(status, tolerance.status)) problems.push(`status ${status}`);
  if (tolerance.duration !== undefined && !isWithin(tookMs, tolerance.duration)) problems.push(`${round(tookMs)} ms`);
  for (const [path, bound] of Object.entries(tolerance.json ?? {})) {
    const value = valueAt(text, path);
    if (value === undefined) problems.push(`no ${path}`);
    else if (!isWithin(value, bound)) problems.push(`${path} is ${String(value)}`);
  }
  const observed = `${name}: HTTP ${status} after ${round(tookMs)} ms${problems.length > 0 ? `: ${problems.join(', ')}` : ''}`;
  return { verdict: problems.length > 0 ? 'fail' : 'pass', observed };
}

/** `dependencies.0.status`; undefined when there is no such value. */
function valueAt(text: string, path: string): Value | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined; // Not JSON: it has no such value.
  }
  for (const key of path.split('.')) value = (value as Record<string, unknown> | null | undefined)?.[key];
  return value === undefined || (typeof value === 'object' && value !== null) ? undefined : (value as Value);
}

function describe({ status, duration, json = {} }: HttpProbe['tolerance']): string {
  return [
    ...(status === undefined ? [] : [`HTTP ${describeTolerance(status)}`]),
    ...(duration === undefined ? [] : [describeTolerance(duration, ' ms')]),
    ...Object.entries(json).map(([path, bound]) => `${path} ${describeTolerance(bound)}`),
  ].join(', ');
}
