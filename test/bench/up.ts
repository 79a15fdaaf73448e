/**
 * How long `shopctl up` takes, against RabbitMQ's own start script alone on the same machine in the same minutes:
 * a: the script until the broker greets, b: `up` with data there, c: `up` without data. Each with services, databases
 * and broker stopped before. `npm run bench:up -- [--rounds N] [--json]`. Exit code 1 when b/a or c/a is above its limit.
 */
import { parseArgs } from 'node:util';
import { describeMachine } from './report.ts';
import type { Summary } from './rounds.ts';
import { measureStarts } from './start.ts';

/** What must hold: a warm start is no longer than the script alone, a cold one at most 1.3 times that. */
const LIMITS = { warm: 1.0, cold: 1.3 } as const;

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, json: { type: 'boolean', default: false } },
});
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1) throw new RangeError('--rounds takes a whole number from 1');

const say = (line: string) => (values.json ? undefined : process.stderr.write(`${line}\n`));
const { broker, script, warm, cold } = await measureStarts({ rounds, say });
const report = {
  machine: describeMachine(),
  broker,
  rounds,
  ms: { script, warm, cold },
  ratios: { warm: warm.median / script.median, cold: cold.median / script.median },
  limits: LIMITS,
};
if (values.json) console.log(JSON.stringify(report, null, 2));
else console.log(describe());
process.exitCode = report.ratios.warm <= LIMITS.warm && report.ratios.cold <= LIMITS.cold ? 0 : 1;

function describe(): string {
  const { machine, ratios } = report;
  const row = (name: string, { median, min, max }: Summary, ratio: string) =>
    `| ${name.padEnd(34)} | ${seconds(median)} | ${seconds(min)}-${seconds(max)} | ${ratio} |`;
  return [
    `${machine.cpus}, ${machine.memoryGb} GB, ${machine.system}, Node ${machine.node}`,
    `${report.broker}, ${rounds} rounds`,
    '',
    '| start                              | median s | range s | ratio |',
    '| ---------------------------------- | -------- | ------- | ----- |',
    row("RabbitMQ's start script alone", script, '1'),
    row('shopctl up, data there', warm, `${ratios.warm.toFixed(2)} (at most ${LIMITS.warm})`),
    row('shopctl up, no data', cold, `${ratios.cold.toFixed(2)} (at most ${LIMITS.cold})`),
  ].join('\n');
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(2);
}
