/**
 * How long `shopctl up` takes, against RabbitMQ's own start script alone on the same machine in the same minutes:
 * a: the script until the broker greets, b: `up` with data there, c: `up` without data. Each with services, databases
 * and broker stopped before. `npm run bench:up -- [--rounds N] [--json]`. Exit code 1 when b/a or c/a is above its limit.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, loadavg, release, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { cloneRoot, openProject } from '../../cli/src/platform/project.ts';
import { rotated, type Summary, summarize } from './rounds.ts';
import { findStockBroker } from './stock-broker.ts';

/** What must hold: a warm start is no longer than the script alone, a cold one at most 1.3 times that. */
const LIMITS = { warm: 1.0, cold: 1.3 } as const;

const run = promisify(execFile);
const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, json: { type: 'boolean', default: false } },
});
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1) throw new RangeError('--rounds takes a whole number from 1');

const root = cloneRoot();
const folder = await mkdtemp(join(tmpdir(), 'shop-bench-'));
const env = { ...process.env, SHOPCTL_HOME: folder, NO_COLOR: '1' };
const shopctl = (...args: string[]) => run(join(root, 'cli/bin/shopctl'), [...args, '--project', 'bench'], { env });

/** From the command's start to its end, as its user waits. */
async function timeUp(): Promise<number> {
  const began = performance.now();
  await shopctl('up', '--no-build');
  return performance.now() - began;
}

const { cacheDir } = openProject('bench', root, env);
const broker = await findStockBroker(folder, cacheDir);
const measured = { script: [] as number[], warm: [] as number[], cold: [] as number[] };
const kinds = {
  async script() {
    measured.script.push(await broker.measure());
  },
  async warm() {
    measured.warm.push(await timeUp());
    await shopctl('down');
  },
  async cold() {
    await shopctl('down', '--volumes');
    measured.cold.push(await timeUp());
    await shopctl('down');
  },
};

try {
  // One start of each that does not count: compile caches, page cache, the broker's first data directory.
  await broker.measure();
  await shopctl('up');
  await shopctl('down');
  for (let round = 0; round < rounds; round++) {
    if (!values.json) process.stderr.write(`round ${round + 1} of ${rounds}\n`);
    for (const kind of rotated(['script', 'warm', 'cold'] as const, round)) await kinds[kind]();
  }
} finally {
  await shopctl('down', '--volumes');
  await rm(folder, { recursive: true, force: true });
}

const script = summarize(measured.script);
const warm = summarize(measured.warm);
const cold = summarize(measured.cold);
const report = {
  machine: {
    cpus: `${cpus().length} x ${cpus()[0]?.model.trim() ?? 'unknown'}`,
    memoryGb: Math.round(totalmem() / 1024 ** 3),
    system: `${process.platform} ${release()}`,
    node: process.version,
    load1: loadavg()[0],
  },
  broker: broker.detail,
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
