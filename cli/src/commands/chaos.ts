import { type Command, InvalidArgumentError } from 'commander';
import { durationMs } from '../chaos/duration.ts';
import { DEFAULT_TTL_MS } from '../chaos/lease.ts';
import { type CommonOptions, type Register, withCommonOptions } from './deps.ts';
import { parseCount } from './option-values.ts';

export interface ChaosInjectOptions extends CommonOptions {
  /** ms. */
  readonly ttl: number;
  readonly hold?: boolean;
  /** What remains are the fault's own parameters, by their names. */
  readonly [parameter: string]: unknown;
}

export interface ChaosClearOptions extends CommonOptions {
  readonly all?: boolean;
}

/** `200ms`, `3s`, `1m`, in ms. */
function parseDurationOption(text: string): number {
  const ms = durationMs(text);
  if (ms === undefined) throw new InvalidArgumentError('expected a number and its unit, like 200ms, 3s or 1m');
  return ms;
}

function parseNumber(text: string): number {
  const number = Number(text);
  if (text === '' || !Number.isFinite(number)) throw new InvalidArgumentError('expected a number');
  return number;
}

/**
 * Faults on the running platform. `inject` changes it until the fault's time is over; `clear` and `heal` take back;
 * `status` and `faults` only read. Exit codes: 0; 1; 2 before anything has happened; 3 when the fault cannot be had here; 4;
 * 5 when the fault was injected and is not measurably in effect; 6 when a fault could not be taken back; 130 and clean.
 */
export const register: Register = (program, deps) => {
  const chaos = program.command('chaos').description('inject faults and take them back');
  addInject(chaos, deps);

  withCommonOptions(chaos.command('status'))
    .description('faults that act on the platform, with their remaining time and what was measured of them')
    .action(async (options: CommonOptions) => {
      const { runChaosStatus } = await import('../chaos/run-chaos-status.ts');
      await runChaosStatus(options, deps);
    });

  withCommonOptions(chaos.command('clear'))
    .description('take faults back before their time is over')
    .argument('[id...]', 'ids of faults, as status shows them')
    .option('-a, --all', 'all of them')
    .action(async (ids: readonly string[], options: ChaosClearOptions) => {
      const { runChaosClear } = await import('../chaos/run-chaos-end.ts');
      await runChaosClear(ids, options, deps);
    });

  withCommonOptions(chaos.command('heal'))
    .description('take everything back, also what a killed supervisor left; may be repeated')
    .action(async (options: CommonOptions) => {
      const { runChaosHeal } = await import('../chaos/run-chaos-end.ts');
      await runChaosHeal(options, deps);
    });

  withCommonOptions(chaos.command('faults'))
    .description('what can be injected where, with its parameters')
    .action(async (options: CommonOptions) => {
      const { runChaosFaults } = await import('../chaos/run-chaos-faults.ts');
      await runChaosFaults(options, deps);
    });
};

function addInject(chaos: Command, deps: Parameters<Register>[1]): void {
  withCommonOptions(chaos.command('inject'))
    .description('inject a fault; it ends by itself when its time is over')
    .argument('<target>', 'an edge, a service or instance, a component ("shopctl chaos faults" lists them)')
    .argument('<fault>', 'what is to happen there')
    .option('--ttl <duration>', 'when it ends by itself (default: 60s)', parseDurationOption, DEFAULT_TTL_MS)
    .option('--hold', 'stay until Ctrl-C; the fault ends with this command, however it ends')
    .option('--stream <direction>', 'toxics: downstream (answers, the default) or upstream (requests)')
    .option('--toxicity <share>', 'toxics: share of connections, above 0 and up to 1', parseNumber)
    .option('--latency <duration>', 'latency: delay of each piece of data', parseDurationOption)
    .option('--jitter <duration>', 'latency: the delay varies by this much', parseDurationOption)
    .option('--rate <KB/s>', 'bandwidth: data per second', parseNumber)
    .option(
      '--timeout <duration>',
      'timeout, reset_peer: until connections end (timeout 0ms: never)',
      parseDurationOption,
    )
    .option('--delay <duration>', 'slow_close, slicer, failpoint: how long', parseDurationOption)
    .option('--average-size <bytes>', 'slicer: size of a piece', parseNumber)
    .option('--size-variation <bytes>', 'slicer: the size varies by this much', parseNumber)
    .option('--bytes <count>', 'limit_data: how much may pass', parseNumber)
    .option('--at <name>', 'failpoint: the place, like S4')
    .option('--action <action>', 'failpoint: kill, delay or error')
    .option('--connections <count>', 'hold-connections: how many at the most', parseCount)
    .option('--table <name>', "lock: default is the service's main table")
    .action(async (target: string, fault: string, options: ChaosInjectOptions) => {
      const { runChaosInject } = await import('../chaos/run-chaos-inject.ts');
      await runChaosInject(target, fault, options, deps);
    });
}
