/**
 * `npm run bench:restarts`: rolling restarts of each service under load. It counts failed requests with k6 and with a
 * client that repeats nothing, lost and doubled orders, and traces that differ from their contract. `npm run bench:restarts
 * -- --help` names options and exit codes.
 */
import { InvalidArgumentError, Option } from 'commander';
import { parseDuration, parsePositive } from '../../cli/src/commands/option-values.ts';
import { exitCodes } from '../../cli/src/exit-codes.ts';
import type { Output } from '../../cli/src/output/output.ts';
import { type RuntimeKind, runtimeKinds } from '../../cli/src/platform/service-runtime.ts';
import { serviceNames } from '../../cli/src/topology/services.ts';
import { type Connections, connectionChoices } from '../../scenarios/bench/connections.ts';
import { benchmark, runBenchmark, usageError } from './program.ts';
import { type DeployStrategy, deployStrategies } from './restarts/deploys.ts';
import { measureRestarts } from './restarts/measure.ts';
import { renderRestarts } from './restarts/render.ts';

const DEFAULTS = { restarts: 20, rate: 100 };
/** Of a run with the defaults or more of it. */
const LEAST_REQUESTS = 100_000;

const command = benchmark(
  'bench:restarts',
  `Rolling restarts of each service under load (target: 0 failed requests, of at least ${LEAST_REQUESTS} with the defaults; 0 orders lost or doubled; traces as their contract).`,
)
  .addOption(
    new Option('--services <names>', 'services to restart, separated by commas')
      .argParser(parseServices)
      .default(serviceNames, 'all'),
  )
  .option('--restarts <n>', 'restarts of each service', parsePositive, DEFAULTS.restarts)
  .option('--replicas <n>', 'replicas of each service', parsePositive, 2)
  .option('--scale <n>', 'scale to so many replicas and back, in place of each restart', parsePositive)
  .addOption(
    new Option('--deploy <strategy>', 'deploy the service as another release, in place of each restart').choices(
      deployStrategies,
    ),
  )
  .option('--rate <n>', 'orders a second, each of them read back; k6 sends half', parseRate, DEFAULTS.rate)
  .addOption(
    new Option('--every <time>', 'from the beginning of a restart to the next one, at least')
      .argParser(parseDuration)
      .default(8_000, '8s'),
  )
  .addOption(new Option('--connections <kind>', 'how clients connect').choices(connectionChoices).default('mixed'))
  .addOption(new Option('--runtime <kind>', 'what services run as').choices(runtimeKinds).default('process'))
  .addOption(
    new Option('--calm <time>', 'the load without restarts before them')
      .argParser(parseDuration)
      .default(20_000, '20s'),
  )
  .option('--traces <n>', 'orders of each service whose traces are compared', parsePositive, 10)
  .option('--least <n>', 'fewer requests are a miss (default: 100000 with the defaults, else none)', parsePositive)
  .option('--json', 'print the figures as JSON');

function parseServices(text: string): readonly string[] {
  const names = text.split(',');
  const unknown = names.filter((name) => !(serviceNames as readonly string[]).includes(name));
  if (unknown.length > 0) throw new InvalidArgumentError(`services are ${serviceNames.join(', ')}`);
  return [...new Set(names)];
}

/** Each of both clients needs one. */
function parseRate(text: string): number {
  const rate = parsePositive(text);
  if (rate < 2) throw new InvalidArgumentError('expected a whole number, 2 or more');
  return rate;
}

interface Options {
  readonly services: readonly string[];
  readonly restarts: number;
  readonly replicas: number;
  readonly scale?: number;
  readonly deploy?: DeployStrategy;
  readonly rate: number;
  readonly every: number;
  readonly calm: number;
  readonly connections: Connections;
  readonly runtime: RuntimeKind;
  readonly traces: number;
  readonly least?: number;
}

async function measure({ every, calm, least, ...options }: Options, output: Output) {
  const { services, restarts, rate, replicas, scale, deploy } = options;
  if (scale !== undefined && scale <= replicas)
    throw usageError(`--scale: more than the ${replicas} replicas of --replicas, got ${scale}`, command);
  if (scale !== undefined && deploy !== undefined)
    throw usageError('--scale cannot be combined with --deploy: leave one of them out', command);
  if (deploy === 'blue-green' && services.includes('gateway'))
    throw usageError('--deploy blue-green: gateway has no second set, leave it out of --services', command);
  const isWhole = services.length === serviceNames.length && restarts >= DEFAULTS.restarts && rate >= DEFAULTS.rate;
  const chosen = { ...options, everyMs: every, calmMs: calm, leastRequests: least ?? (isWhole ? LEAST_REQUESTS : 0) };
  const result = await measureRestarts(chosen, output);
  output.result(result, renderRestarts);
  return result.misses.length === 0 ? exitCodes.ok : exitCodes.failed;
}

process.exitCode = await runBenchmark(command, measure);
