/**
 * `npm run bench:watch`: from saving a source of a service to the first response of its new code, under `shopctl up --watch` in
 * a copy of the repository. `npm run bench:watch -- --help` names options and exit codes.
 */
import { parsePositive } from '../../cli/src/commands/option-values.ts';
import { messageOf } from '../../cli/src/errors.ts';
import { exitCodes } from '../../cli/src/exit-codes.ts';
import { requireEngine } from '../../cli/src/images/service-engine.ts';
import type { Output } from '../../cli/src/output/output.ts';
import { measureComposeEdits, whyNoCompose } from './compose-edits.ts';
import { measureEdits } from './edits.ts';
import { benchmark, runBenchmark } from './program.ts';
import { describeMachine } from './report.ts';
import { type Summary, summarize } from './rounds.ts';

/** Median from save to response, ms. */
const LIMIT_MS = 1_500;

const command = benchmark(
  'bench:watch',
  `From saving a source to the first response of its new code, with one replica and with two (a target with one: a median of at most ${LIMIT_MS} ms).`,
)
  .option('--rounds <n>', 'saves of each row', parsePositive, 20)
  .option('--json', 'print the figures as JSON');

interface Row {
  readonly replicas: number;
  /** To the first response of the new code, ms. */
  readonly responded: Summary;
  /** Of that, the build, ms. */
  readonly built: Summary;
}

async function measure({ rounds }: { readonly rounds: number }, output: Output) {
  const say = (line: string) => (output.mode === 'json' ? undefined : output.note(line));
  const rows: Row[] = [];
  for (const replicas of [1, 2]) {
    const edits = await measureEdits({ rounds, replicas, say });
    rows.push({
      replicas,
      responded: summarize(edits.map(({ respondedMs }) => respondedMs)),
      built: summarize(edits.map(({ builtMs }) => builtMs)),
    });
  }
  const composeWatch = await measureCompose(rounds, say);
  output.result({ machine: describeMachine(), rounds, limitMs: LIMIT_MS, rows, composeWatch }, describe);
  return (rows[0]?.responded.median ?? Infinity) <= LIMIT_MS ? exitCodes.ok : exitCodes.failed;
}

/** The row of `docker compose watch`, or why there is none. */
async function measureCompose(rounds: number, say: (line: string) => void): Promise<Summary | string> {
  try {
    await requireEngine(process.env, 'measuring "docker compose watch"');
    const why = await whyNoCompose();
    return why ?? summarize(await measureComposeEdits({ rounds, say }));
  } catch (error) {
    return messageOf(error);
  }
}

function describe({
  machine,
  rounds,
  rows,
  composeWatch,
}: {
  machine: ReturnType<typeof describeMachine>;
  rounds: number;
  rows: readonly Row[];
  composeWatch: Summary | string;
}) {
  const cell = ({ median, min, max }: Summary) => `${median.toFixed(0)} | ${min.toFixed(0)}-${max.toFixed(0)}`;
  return [
    `${machine.cpus}, ${machine.memoryGb} GB, ${machine.system}, Node ${machine.node}; ${rounds} saves`,
    '',
    '| replicas | save to response, median ms | range ms | build, median ms | range ms |',
    '| -------- | --------------------------- | -------- | ---------------- | -------- |',
    ...rows.map(({ replicas, responded, built }) => `| ${replicas} | ${cell(responded)} | ${cell(built)} |`),
    ...(typeof composeWatch === 'string'
      ? ['', `docker compose watch: not measured: ${composeWatch}`]
      : [`| docker compose watch, 1 | ${cell(composeWatch)} | - | - |`]),
  ].join('\n');
}

process.exitCode = await runBenchmark(command, measure);
