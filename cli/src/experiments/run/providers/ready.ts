import { messageOf } from '../../../errors.ts';
import { httpPort, type InstanceState } from '../../../platform/state.ts';
import type { ReadyProbe } from '../../format/schema.ts';
import { concerns } from '../process-events.ts';
import type { RunContext } from '../run-context.ts';
import { type StepResult, unknown } from '../step-result.ts';

/** A readiness response takes up to 1 s, because a dependency may be given that long. ms. */
const LIMIT_MS = 3_000;

interface Readiness {
  readonly name: string;
  readonly ready: boolean;
  /** Dependencies it names as down, and why it is not ready in words. */
  readonly down: readonly string[];
  readonly why: string;
}

/** What services say of themselves, and the supervisor of components. */
export async function probeReadiness(
  { provider, tolerance }: ReadyProbe,
  { platform }: RunContext,
): Promise<StepResult> {
  const wanted = typeof tolerance === 'boolean' ? { ready: tolerance, because: undefined } : tolerance;
  const because = wanted.because === undefined ? '' : ` because of ${wanted.because}`;
  const expected = `${provider.target} ${wanted.ready ? 'ready' : 'not ready'}${because}`;
  const { instances } = await platform.connection.control.state();
  const chosen = instances.filter(({ name }) => provider.target === 'all' || concerns(name, provider.target));
  if (chosen.length === 0) return unknown(`${provider.target} is unknown to the supervisor`, { expected });
  const looks = await Promise.all(chosen.map(look));
  const wrong = looks.filter(
    ({ ready, down }) => ready !== wanted.ready || (wanted.because !== undefined && !down.includes(wanted.because)),
  );
  if (wrong.length === 0)
    return { verdict: 'pass', expected, observed: `${looks.length} instances ${wanted.ready ? 'ready' : 'not ready'}` };
  return { verdict: 'fail', expected, observed: wrong.map(describe).join('; ') };
}

function describe({ name, ready, why }: Readiness): string {
  return ready ? `${name} is ready` : `${name} is not ready: ${why}`;
}

async function look(instance: InstanceState): Promise<Readiness> {
  const { name, kind, status, reason } = instance;
  if (kind === 'component') return { name, ready: status === 'ready', down: [], why: reason ?? status };
  try {
    const url = `http://127.0.0.1:${httpPort(instance)}/health/ready`;
    const response = await fetch(url, { signal: AbortSignal.timeout(LIMIT_MS) });
    const body = (await response.json()) as {
      dependencies?: readonly { name: string; status: string; reason?: string }[];
    };
    const down = (body.dependencies ?? []).filter((dependency) => dependency.status !== 'up');
    const why = down.map((dependency) => `${dependency.name} (${dependency.reason ?? 'down'})`).join(', ');
    return { name, ready: response.status === 200, down: down.map((dependency) => dependency.name), why };
  } catch (error) {
    // A process that does not respond is not ready.
    return { name, ready: false, down: [], why: `no response: ${messageOf((error as Error).cause ?? error)}` };
  }
}
