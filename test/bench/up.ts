/**
 * `npm run bench:up`: how long `shopctl up` takes, against RabbitMQ's own start script alone on the same machine in the
 * same minutes. It measures the script until the broker greets, `up` with data there, and `up` without data. Each with
 * services, databases and broker stopped before. `npm run bench:up -- --help` names options and exit codes.
 */
import { parsePositive } from '../../cli/src/commands/option-values.ts';
import { exitCodes } from '../../cli/src/exit-codes.ts';
import type { Output } from '../../cli/src/output/output.ts';
import { benchmark, runBenchmark } from './program.ts';
import { describeMachine } from './report.ts';
import type { Summary } from './rounds.ts';
import { measureStarts, UP_LIMITS } from './start.ts';

const command = benchmark(
  'bench:up',
  `How long "shopctl up" takes, of what RabbitMQ's own start script takes alone: with data there (a target: at most ${UP_LIMITS.warm}) and without (${UP_LIMITS.cold}).`,
)
  .option('--rounds <n>', 'rounds', parsePositive, 5)
  .option('--json', 'print the figures as JSON');

async function measure({ rounds }: { readonly rounds: number }, output: Output) {
  const say = (line: string) => (output.mode === 'json' ? undefined : output.note(line));
  const { broker, script, warm, cold } = await measureStarts({ rounds, say });
  const ratios = { warm: warm.median / script.median, cold: cold.median / script.median };
  const report = { machine: describeMachine(), broker, rounds, ms: { script, warm, cold }, ratios, limits: UP_LIMITS };
  output.result(report, describe);
  return ratios.warm <= UP_LIMITS.warm && ratios.cold <= UP_LIMITS.cold ? exitCodes.ok : exitCodes.failed;
}

interface Report {
  readonly machine: ReturnType<typeof describeMachine>;
  readonly broker: string;
  readonly rounds: number;
  readonly ms: Readonly<Record<'script' | 'warm' | 'cold', Summary>>;
  readonly ratios: Readonly<Record<'warm' | 'cold', number>>;
}

function describe({ machine, broker, rounds, ms, ratios }: Report): string {
  const row = (name: string, { median, min, max }: Summary, ratio: string) =>
    `| ${name.padEnd(34)} | ${seconds(median)} | ${seconds(min)}-${seconds(max)} | ${ratio} |`;
  return [
    `${machine.cpus}, ${machine.memoryGb} GB, ${machine.system}, Node ${machine.node}`,
    `${broker}, ${rounds} rounds`,
    '',
    '| start                              | median s | range s | ratio |',
    '| ---------------------------------- | -------- | ------- | ----- |',
    row("RabbitMQ's start script alone", ms.script, '1'),
    row('shopctl up, data there', ms.warm, `${ratios.warm.toFixed(2)} (at most ${UP_LIMITS.warm})`),
    row('shopctl up, no data', ms.cold, `${ratios.cold.toFixed(2)} (at most ${UP_LIMITS.cold})`),
  ].join('\n');
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(2);
}

process.exitCode = await runBenchmark(command, measure);
