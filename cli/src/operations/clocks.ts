import { CliError, messageOf } from '../errors.ts';
import { httpPort, type InstanceState } from '../platform/state.ts';
import { writeDuration } from '../shared/duration.ts';

/** A Date header has whole seconds; twice that is certain. */
export const CLOCK_PRECISION_MS = 2_000;
const ASK_LIMIT_MS = 2_000;

/** The wall clock of one instance. */
export interface ClockReading {
  readonly name: string;
  readonly service: string;
  /** How far it goes ahead of the supervisor's clock, to the second; null while it does not respond. */
  readonly offsetMs: number | null;
  /** `unknown`: it does not respond. */
  readonly state: 'right' | 'wrong' | 'unknown';
  /** Why it is unknown. */
  readonly why?: string;
}

/** The Date header of an instance's response, compared with this machine's clock. Rejects while it does not respond. */
export async function clockOffsetOf(instance: Pick<InstanceState, 'ports'>): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${httpPort(instance)}/health/live`, {
    signal: AbortSignal.timeout(ASK_LIMIT_MS),
  });
  await response.arrayBuffer();
  return Date.parse(response.headers.get('date') ?? '') - Date.now();
}

/** For people: a header without a fraction lags by half a second on average. */
export function writeOffset(ms: number): string {
  return writeDuration(Math.round(ms / 1_000) * 1_000);
}

/** The clocks of the instances of services. */
export function readClocks(instances: readonly InstanceState[]): Promise<readonly ClockReading[]> {
  return Promise.all(instances.filter(({ kind }) => kind === 'service').map(readClock));
}

async function readClock(instance: InstanceState): Promise<ClockReading> {
  const { name, service } = instance;
  if (instance.process === undefined) return { name, service, offsetMs: null, state: 'unknown', why: instance.status };
  try {
    const offset = await clockOffsetOf(instance);
    if (Number.isNaN(offset)) throw new Error('its response has no date');
    const state = Math.abs(offset) <= CLOCK_PRECISION_MS ? 'right' : 'wrong';
    return { name, service, offsetMs: Math.round(offset / 1_000) * 1_000, state };
  } catch (error) {
    return { name, service, offsetMs: null, state: 'unknown', why: messageOf(error) };
  }
}

export interface ClockOperations {
  instances(): readonly InstanceState[];
  /** Its next starts are with this machine's clock. */
  resetClock(name: string): void;
  /** Resolves when it is ready. */
  restart(name: string): Promise<void>;
}

/** Restarts these instances, one after the other, with this machine's clock. Throws CliError (1) where one is still wrong. */
export async function syncClocks(names: readonly string[], keeper: ClockOperations): Promise<readonly ClockReading[]> {
  for (const name of names) {
    keeper.resetClock(name);
    await keeper.restart(name);
  }
  const after = await readClocks(keeper.instances().filter(({ name }) => names.includes(name)));
  const left = after.filter(({ state }) => state !== 'right');
  if (left.length === 0) return after;
  throw new CliError({
    code: 'operation_ineffective',
    what: `${left.length} of ${names.length} clocks are not right after a restart`,
    why: left
      .map(({ name, offsetMs, why }) => `${name}: ${offsetMs === null ? why : writeOffset(offsetMs)}`)
      .join(', '),
    next: 'see "shopctl ops clock ls" and "shopctl status"',
  });
}
