import { Type } from 'typebox';
import { CliError } from '../../errors.ts';
import { CLOCK_PRECISION_MS, clockOffsetOf, writeOffset } from '../../operations/clocks.ts';
import { writeDuration } from '../../shared/duration.ts';
import { defineFault } from '../fault.ts';
import { bringBack, instancesOf, recordVictims, START_LIMIT_MS, type Victims, verifyReady } from '../instances.ts';
import { FAKETIME_HINT, faketimeEnvironment } from '../libfaketime.ts';
import type { PlatformAccess } from '../platform-access.ts';
import { toWitness } from './toxic-fault.ts';

const YEAR_MS = 366 * 24 * 3_600_000;
const parameters = Type.Object(
  {
    offset: Type.Integer({
      minimum: -10 * YEAR_MS,
      maximum: 10 * YEAR_MS,
      description: 'how far its clock goes ahead (-1h: behind), at least 5s',
      unit: 'signed ms',
    }),
  },
  { additionalProperties: false },
);

/** Certainly seen in a Date header, which has whole seconds. */
const SMALLEST_OFFSET_MS = 5_000;

/** The wall clock of one service is wrong; its timers are right. */
export const clock = defineFault<typeof parameters, Victims>({
  name: 'clock',
  kind: 'process',
  scope: 'instance',
  title: 'it is restarted with a wrong wall clock; timers and durations are not affected',
  parameters,
  defaults: { excluded: 'the restart of its target ends held orders under the right clock; E32 is about it' },
  presets: [{ offset: 3_600_000 }, { offset: -3_600_000 }],
  endsWithPlatform: true,
  undoLimitMs: START_LIMIT_MS,
  hostObstacle: async (host) => ((await host.libfaketime()) === undefined ? noLibrary() : undefined),
  async prepare({ target, parameters: { offset } }, platform) {
    if (Math.abs(offset) < SMALLEST_OFFSET_MS) throw tooSmall(offset);
    await libraryOf(platform);
    return recordVictims(target, platform);
  },
  async inject({ parameters: { offset } }, { target }, platform) {
    platform.changeConditions(target, { env: faketimeEnvironment(await libraryOf(platform), offset) });
    await platform.act(target, 'restart');
  },
  async witness({ parameters: { offset } }, { target }, platform) {
    const measured = await clockOffsets(target, platform);
    const isObserved = measured.length > 0 && measured.every(({ ms }) => Math.abs(ms - offset) <= CLOCK_PRECISION_MS);
    return toWitness(isObserved, describe(measured));
  },
  // Another fault may have had it started under other conditions. What does not run will start under these.
  async isInPlace({ target }, platform) {
    return (await clockOffsets(target, platform)).every(({ ms }) => Math.abs(ms) > CLOCK_PRECISION_MS);
  },
  async undo({ target }, platform) {
    if (!platform.isLive) return;
    platform.changeConditions(target, { env: undefined });
    if (!(await isRight(target, platform))) await platform.relaunch(target);
    await bringBack({ target, victims: [] }, platform);
  },
  async verify(victims, platform) {
    const ready = await verifyReady(victims, platform);
    if (!platform.isLive) return ready;
    const measured = await clockOffsets(victims.target, platform);
    if (measured.some(({ ms }) => Math.abs(ms) > CLOCK_PRECISION_MS)) throw new Error(describe(measured));
    return `${ready}; ${describe(measured)}`;
  },
});

interface ClockOffset {
  readonly name: string;
  readonly ms: number;
}

async function clockOffsets(target: string, platform: PlatformAccess): Promise<readonly ClockOffset[]> {
  const running = instancesOf(target, platform).filter(({ process }) => process !== undefined);
  return Promise.all(running.map(async (instance) => ({ name: instance.name, ms: await clockOffsetOf(instance) })));
}

/** Where all run with the right clock, a restart would only disturb: an operator has done it. */
async function isRight(target: string, platform: PlatformAccess): Promise<boolean> {
  // One that does not respond is restarted.
  const measured = await clockOffsets(target, platform).catch(() => []);
  const count = instancesOf(target, platform).length;
  return measured.length === count && measured.every(({ ms }) => Math.abs(ms) <= CLOCK_PRECISION_MS);
}

function describe(measured: readonly ClockOffset[]): string {
  const each = measured.map(({ name, ms }) => `${name} by ${writeOffset(ms)}`);
  return each.length > 0 ? `clocks differ from this machine's: ${each.join(', ')}` : 'no instance is running';
}

async function libraryOf(platform: PlatformAccess): Promise<string> {
  const library = await platform.libfaketime();
  if (library !== undefined) return library;
  throw noLibrary();
}

function noLibrary(): CliError {
  return new CliError({
    code: 'fault_unavailable',
    what: 'the clock fault is not available on this machine',
    why: process.platform === 'linux' ? 'libfaketime is not installed' : 'libfaketime is used on Linux only',
    next: FAKETIME_HINT,
  });
}

function tooSmall(offset: number): CliError {
  return new CliError({
    code: 'invalid_fault',
    what: `an offset of ${writeDuration(offset)} is too small`,
    why: 'clocks are compared to the second, which would not show it',
    next: 'state at least 5s, or -5s',
  });
}
