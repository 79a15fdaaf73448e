/**
 * `npm run bench:canary`: how often the analysis of canaries is wrong and how soon it is right, simulated with a fixed seed, beside the
 * rules of other tools. One process, no server. `npm run bench:canary -- --help` names options and exit codes.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parsePositive } from '../../cli/src/commands/option-values.ts';
import { readPlan } from '../../cli/src/deploy/analysis/read-plan.ts';
import { exitCodes } from '../../cli/src/exit-codes.ts';
import type { Output } from '../../cli/src/output/output.ts';
import { cloneRoot } from '../../cli/src/platform/project.ts';
import { allTables } from './canary/all-tables.ts';
import { renderTable, replaceTables } from './canary/render.ts';
import { isKept } from './canary/table.ts';
import { benchmark, runBenchmark } from './program.ts';

const PAGE = 'docs/benchmarks/canary.md';
/** Of the runs, for a look. */
const QUICK = 0.05;

const command = benchmark(
  'bench:canary',
  'How often the analysis of canaries is wrong, and how soon it is right: simulated with a fixed seed, beside the rules of other tools.',
)
  .option('--seed <n>', 'another seed', parsePositive, 18)
  .option('--quick', 'few runs: figures are rough')
  .option('--json', 'print the figures as JSON')
  .option('--write', `write the tables into ${PAGE}`);

interface Options {
  readonly seed: number;
  readonly quick?: boolean;
  readonly write?: boolean;
}

async function measure({ seed, quick, write }: Options, output: Output) {
  const { plan, problems } = readPlan(await readFile(join(cloneRoot(), 'deploy/plans/orders.yaml'), 'utf8'));
  if (plan === undefined)
    throw new Error(`deploy/plans/orders.yaml: ${problems.map(({ message }) => message).join('; ')}`);
  const scale = { seed, part: quick ? QUICK : 1 };
  const tables = allTables.map((make) => {
    const table = make(plan, scale);
    output.note(table.title);
    return table;
  });
  const text = tables.map(renderTable).join('\n\n');
  if (write) {
    const page = join(cloneRoot(), PAGE);
    await writeFile(page, replaceTables(await readFile(page, 'utf8'), text));
  }
  const broken = tables.flatMap(({ promises }) => promises).filter((one) => !isKept(one));
  for (const { what, value, least, most } of broken) {
    output.note(`missed: ${what} is ${value}, ${least === undefined ? `at most ${most}` : `at least ${least}`}`);
  }
  output.result({ seed, quick: quick === true, tables }, () => text);
  return broken.length === 0 ? exitCodes.ok : exitCodes.failed;
}

process.exitCode = await runBenchmark(command, measure);
