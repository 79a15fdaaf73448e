import { Type } from 'typebox';
import { CliError } from '../../errors.ts';
import { exitCodes } from '../../exit-codes.ts';
import { httpPort } from '../../platform/state.ts';
import { writeDuration } from '../../shared/duration.ts';
import { defineFault } from '../fault.ts';
import { bringBack, instancesOf, recordVictims, START_LIMIT_MS, type Victims, verifyReady } from '../instances.ts';
import { FAKETIME_HINT, faketimeEnvironment } from '../libfaketime.ts';
import type { World } from '../world.ts';
import { judged } from './toxic-fault.ts';

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

/** A Date header has whole seconds; twice that is certain. */
const SMALLEST_OFFSET_MS = 5_000;
const PRECISION_MS = 2_000;
const ASK_LIMIT_MS = 2_000;

/** The wall clock of one service is wrong; its timers are not. */
export const clock = defineFault<typeof parameters, Victims>({
  name: 'clock',
  kind: 'process',
  scope: 'instance',
  title: 'it is restarted with a wall clock that is wrong; timers and durations are not concerned',
  parameters,
  defaults: { excluded: 'the restart of its target ends held orders under the right clock; E32 is about it' },
  presets: [{ offset: 3_600_000 }, { offset: -3_600_000 }],
  endsWithPlatform: true,
  undoLimitMs: START_LIMIT_MS,
  hostObstacle: async (host) => ((await host.libfaketime()) === undefined ? noLibrary() : undefined),
  async prepare({ target, parameters: { offset } }, world) {
    if (Math.abs(offset) < SMALLEST_OFFSET_MS) throw tooSmall(offset);
    await libraryOf(world);
    return recordVictims(target, world);
  },
  async inject({ parameters: { offset } }, { target }, world) {
    world.setConditions(target, { env: faketimeEnvironment(await libraryOf(world), offset) });
    await world.act(target, 'restart');
  },
  async witness({ parameters: { offset } }, { target }, world) {
    const measured = await clockOffsets(target, world);
    const isSeen = measured.length > 0 && measured.every(({ ms }) => Math.abs(ms - offset) <= PRECISION_MS);
    return judged(isSeen, describe(measured));
  },
  // Another fault may have had it started under other conditions. What does not run will start under these.
  async isInPlace({ target }, world) {
    return (await clockOffsets(target, world)).every(({ ms }) => Math.abs(ms) > PRECISION_MS);
  },
  async undo({ target }, world) {
    if (!world.isLive) return;
    world.setConditions(target, {});
    await world.relaunch(target);
    await bringBack({ target, victims: [] }, world);
  },
  async verify(victims, world) {
    const ready = await verifyReady(victims, world);
    if (!world.isLive) return ready;
    const measured = await clockOffsets(victims.target, world);
    if (measured.some(({ ms }) => Math.abs(ms) > PRECISION_MS)) throw new Error(describe(measured));
    return `${ready}; ${describe(measured)}`;
  },
});

interface ClockOffset {
  readonly name: string;
  readonly ms: number;
}

/** What the Date header of each instance's answer says, compared with our clock. */
async function clockOffsets(target: string, world: World): Promise<readonly ClockOffset[]> {
  const running = instancesOf(target, world).filter(({ process }) => process !== undefined);
  return Promise.all(
    running.map(async (instance) => {
      const response = await fetch(`http://127.0.0.1:${httpPort(instance)}/health/live`, {
        signal: AbortSignal.timeout(ASK_LIMIT_MS),
      });
      await response.arrayBuffer();
      return { name: instance.name, ms: Date.parse(response.headers.get('date') ?? '') - Date.now() };
    }),
  );
}

function describe(measured: readonly ClockOffset[]): string {
  // A header without a fraction lags by half a second on average.
  const each = measured.map(({ name, ms }) => `${name} by ${writeDuration(Math.round(ms / 1_000) * 1_000)}`);
  return each.length > 0 ? `clocks differ from ours: ${each.join(', ')}` : 'no instance runs';
}

async function libraryOf(world: World): Promise<string> {
  const library = await world.libfaketime();
  if (library !== undefined) return library;
  throw noLibrary();
}

function noLibrary(): CliError {
  return new CliError({
    what: 'the clock of a process cannot be shifted here',
    why: process.platform === 'linux' ? 'libfaketime is not installed' : 'libfaketime is used on Linux only',
    next: FAKETIME_HINT,
    exitCode: exitCodes.unavailable,
  });
}

function tooSmall(offset: number): CliError {
  return new CliError({
    what: `an offset of ${writeDuration(offset)} is too small`,
    why: 'it could not be told from the second to which clocks are compared',
    next: 'state at least 5s, or -5s',
    exitCode: exitCodes.usage,
  });
}
