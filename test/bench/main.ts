/**
 * `npm run bench -- [--rows a,b] [--rounds 3] [--seconds 8] [--quick] [--json] [--write|--no-write]`: measures groups of rows side by
 * side and writes their tables into docs/performance.md (not with --quick, unless --write is given). Tables, or JSON, on
 * standard output. Side effects: platforms of its own (projects bench-*), processes, that file. Exit codes: 0 measured,
 * 1 a target was missed, 2 wrong usage.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { openBench } from './bench.ts';
import { type Group, groups } from './groups.ts';
import { describeMachine, type Finished, missed, replaceSection, toMarkdown } from './report.ts';

const PAGE = new URL('../../docs/performance.md', import.meta.url);

interface Arguments {
  readonly wanted: readonly Group[];
  readonly rounds: number;
  /** Length of a shot. */
  readonly seconds: number;
  readonly quick: boolean;
  readonly json: boolean;
  readonly write: boolean;
}

/** Throws TypeError or RangeError for wrong usage. */
function parseArguments(): Arguments {
  const { values } = parseArgs({
    allowNegative: true,
    options: {
      rows: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      write: { type: 'boolean' },
    },
  });
  const rounds = Number(values.rounds ?? (values.quick ? 1 : 3));
  if (!Number.isInteger(rounds) || rounds < 1) throw new RangeError('--rounds takes a whole number from 1');
  const seconds = Number(values.seconds ?? (values.quick ? 1 : 8));
  if (!(seconds > 0 && seconds <= 600)) throw new RangeError('--seconds takes a number above 0, at most 600');
  const keys = values.rows?.split(',') ?? groups.map(({ key }) => key);
  const wanted = keys.map((key) => {
    const group = groups.find((one) => one.key === key);
    if (group === undefined) throw new RangeError(`--rows: no group "${key}", known: ${known()}`);
    return group;
  });
  return { wanted, rounds, seconds, quick: values.quick, json: values.json, write: values.write ?? !values.quick };
}

function known(): string {
  return groups.map(({ key, title }) => `${key} (${title})`).join(', ');
}

async function measure({ wanted, rounds, seconds, quick }: Arguments): Promise<readonly Finished[]> {
  await using bench = openBench({ rounds, shotMs: seconds * 1000, quick }, (line) => process.stderr.write(`${line}\n`));
  const finished: Finished[] = [];
  for (const { key, title, run } of wanted) {
    bench.say(`${key}: ${title}`);
    finished.push({ key, title, ...(await run(bench)) });
  }
  return finished;
}

async function main(given: Arguments): Promise<void> {
  const run = { machine: describeMachine(), rounds: given.rounds, quick: given.quick };
  const finished = await measure(given);
  if (given.json) console.log(JSON.stringify({ ...run, groups: finished }, null, 2));
  else console.log(finished.map((group) => toMarkdown(group, run)).join('\n\n'));
  if (given.write) {
    const page = await readFile(PAGE, 'utf8');
    const written = finished.reduce((text, group) => replaceSection(text, group.key, toMarkdown(group, run)), page);
    await writeFile(PAGE, written);
  }
  process.exitCode = missed(finished).length > 0 ? 1 : 0;
}

let given: Arguments | undefined;
try {
  given = parseArguments();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 2;
}
if (given !== undefined) await main(given);
