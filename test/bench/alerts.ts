/**
 * `npm run bench:alerts`: what alerts cost beside a platform under load: Prometheus, and the supervisor with pager and scrapes
 * less the supervisor without. Each is measured on a new platform: a supervisor keeps telemetry of its load. The figures are medians of
 * the rounds.
 * `npm run bench:alerts -- --help` names options and exit codes.
 */
import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startMixedLoad } from '../../cli/src/alert-matrix/mixed-load.ts';
import { parsePositive } from '../../cli/src/commands/option-values.ts';
import { exitCodes } from '../../cli/src/exit-codes.ts';
import type { Output } from '../../cli/src/output/output.ts';
import { connectPlatform } from '../../cli/src/platform/connection.ts';
import { cloneRoot, openProject } from '../../cli/src/platform/project.ts';
import type { ProcessIdentity } from '../../cli/src/process/process-identity.ts';
import { ownResidentBytes } from '../../cli/src/process/process-stats.ts';
import { ownCpuMs, readProcessTable, treeCpuMs } from '../../cli/src/process/process-table.ts';
import { systemClock } from '../../cli/src/shared/clock.ts';
import { startGuard } from '../support/guard.ts';
import { benchmark, runBenchmark } from './program.ts';
import { describeMachine } from './report.ts';
import { rotated, summarize } from './rounds.ts';

const run = promisify(execFile);
/** Of one core, and bytes. */
const LIMIT = { share: 0.03, bytes: 90 * 2 ** 20 } as const;
/** Code is compiled, and windows of a minute begin to fill. */
const WARM_UP_MS = 15_000;

const command = benchmark(
  'bench:alerts',
  `What alerts cost at some orders a second (targets at 10: ${LIMIT.share * 100} % of a core, 90 MB). Starts separate platforms.`,
)
  .option('--rate <n>', 'orders a second', parsePositive, 10)
  .option('--seconds <n>', 'length of each of both measurements', parsePositive, 60)
  .option('--rounds <n>', 'rounds of both measurements', parsePositive, 3)
  .option('--json', 'print the figures as JSON');

interface Options {
  readonly rate: number;
  readonly seconds: number;
  readonly rounds: number;
}

/** Share of one core, and resident memory at the end. */
interface Use {
  readonly share: number;
  readonly bytes: number;
}

interface Uses {
  readonly supervisor: Use;
  /** Nothing where it does not run. */
  readonly prometheus: Use;
  readonly orders: number;
  readonly lateOrders: number;
}

const NOTHING: Use = { share: 0, bytes: 0 };

async function measureUnderLoad(
  platform: Awaited<ReturnType<typeof connectPlatform>>,
  options: Options,
): Promise<Uses> {
  const { state, gatewayUrl } = platform;
  const prometheus = state.instances.find(({ service }) => service === 'prometheus')?.process;
  const load = startMixedLoad({
    gatewayUrl,
    rate: options.rate,
    seed: 1,
    name: `bench-alerts-${Date.now()}`,
    clock: systemClock,
  });
  try {
    await delay(WARM_UP_MS);
    const before = await cpuOf(state.supervisor, prometheus);
    await delay(options.seconds * 1_000);
    const after = await cpuOf(state.supervisor, prometheus);
    const share = (name: 'supervisor' | 'prometheus') => (after[name] - before[name]) / (after.atMs - before.atMs);
    return {
      supervisor: { share: share('supervisor'), bytes: (await ownResidentBytes(state.supervisor.pid)) ?? 0 },
      prometheus: prometheus
        ? { share: share('prometheus'), bytes: (await ownResidentBytes(prometheus.pid)) ?? 0 }
        : NOTHING,
      orders: load.sent.sent,
      lateOrders: load.sent.late,
    };
  } finally {
    await load.stop();
  }
}

async function cpuOf(supervisor: ProcessIdentity, prometheus: ProcessIdentity | undefined) {
  const table = await readProcessTable();
  return {
    atMs: performance.now(),
    supervisor: ownCpuMs(table, supervisor) ?? 0,
    prometheus: (prometheus && treeCpuMs(table, prometheus)) ?? 0,
  };
}

async function measure(options: Options, output: Output) {
  const root = cloneRoot();
  const home = await mkdtemp(join(tmpdir(), 'shop-bench-alerts-'));
  const env = { ...process.env, SHOPCTL_HOME: home, NO_COLOR: '1' };
  const shopctl = join(root, 'cli/bin/shopctl');
  const project = openProject('bench-alerts', root, env);
  const words = ['--project', 'bench-alerts'];
  await using _ = startGuard(home, [shopctl, 'down', '--volumes', ...words], env);
  const say = (line: string) => (output.mode === 'json' ? undefined : output.note(line));
  const measured = { without: [] as Uses[], with: [] as Uses[] };
  for (let round = 0; round < options.rounds; round += 1) {
    for (const which of rotated(['without', 'with'] as const, round)) {
      await run(shopctl, ['up', `--${which}`, 'alerts', ...words], { env });
      say(`round ${round + 1}, ${which} alerts: ${options.rate} orders a second for ${options.seconds} s`);
      measured[which].push(await measureUnderLoad(await connectPlatform(project, env), options));
      await run(shopctl, ['down', '--volumes', ...words], { env });
    }
  }
  const rounds = measured.with.map((uses, round) => roundOf(measured.without[round] as Uses, uses));
  const cost: Use = {
    share: summarize(rounds.map((one) => one.cost.share)).median,
    bytes: summarize(rounds.map((one) => one.cost.bytes)).median,
  };
  output.result({ machine: describeMachine(), ...options, limit: LIMIT, measured: rounds, cost }, describe);
  return cost.share <= LIMIT.share && cost.bytes <= LIMIT.bytes ? exitCodes.ok : exitCodes.failed;
}

interface Round {
  readonly without: Uses;
  readonly with: Uses;
  readonly cost: Use;
}

function roundOf(without: Uses, withAlerts: Uses): Round {
  const costOf = (part: keyof Use) =>
    withAlerts.prometheus[part] + withAlerts.supervisor[part] - without.supervisor[part];
  return { without, with: withAlerts, cost: { share: costOf('share'), bytes: costOf('bytes') } };
}

function describe({
  machine,
  measured,
}: {
  readonly machine: ReturnType<typeof describeMachine>;
  readonly measured: readonly Round[];
}) {
  const cells = ({ share, bytes }: Use) => `${(share * 100).toFixed(1)} | ${(bytes / 2 ** 20).toFixed(0)}`;
  const row = (title: string, useOf: (one: Round) => Use) => {
    const part = (name: keyof Use) => summarize(measured.map((one) => useOf(one)[name])).median;
    return `| ${title} | ${cells({ share: part('share'), bytes: part('bytes') })} |`;
  };
  const sum = (name: 'orders' | 'lateOrders') => measured.reduce((total, one) => total + one.with[name], 0);
  return [
    `${machine.cpus}, ${machine.memoryGb} GB, ${machine.system}, Node ${machine.node}`,
    `${sum('orders')} orders, ${sum('lateOrders')} of them sent late; medians of ${measured.length} rounds`,
    '',
    '| process | % of a core | MB |',
    '| --- | --- | --- |',
    row('supervisor without alerts', (one) => one.without.supervisor),
    row('supervisor with alerts', (one) => one.with.supervisor),
    row('Prometheus', (one) => one.with.prometheus),
    row('alerts cost', (one) => one.cost),
  ].join('\n');
}

process.exitCode = await runBenchmark(command, measure);
