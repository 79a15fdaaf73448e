/**
 * `npm run bench:docker`: what containers cost beside processes. It measures the sizes of the images, how long `shopctl
 * up` and a service take, and memory, with both runtimes in one run. The machine must do nothing else. `npm run
 * bench:docker -- --help` names options and exit codes.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parsePositive } from '../../cli/src/commands/option-values.ts';
import { exitCodes } from '../../cli/src/exit-codes.ts';
import { requireEngine } from '../../cli/src/images/service-engine.ts';
import type { Output } from '../../cli/src/output/output.ts';
import { cloneRoot } from '../../cli/src/platform/project.ts';
import { measureDocker, measureImages } from './docker/measure.ts';
import { type Marker, renderImages, renderStarts, replaceBetween } from './docker/render.ts';
import { benchmark, runBenchmark } from './program.ts';
import { describeMachine } from './report.ts';

const BASE = 'node:24-slim';
const command = benchmark(
  'bench:docker',
  'What containers cost beside processes: sizes of images, times to start, memory. Needs a Docker engine.',
)
  .option('--rounds <n>', 'rounds', parsePositive, 5)
  .option('--images', 'only the sizes of the images: nothing is started')
  .option('--json', 'print the figures as JSON')
  .option('--write', 'write the tables into docs/docker.md');

interface Options {
  readonly rounds: number;
  readonly images?: boolean;
  readonly write?: boolean;
}

async function measure({ rounds, images, write }: Options, output: Output) {
  const machine = describeMachine();
  const base = await describeBase();
  const figures = images ? { images: await measureImages() } : await measureDocker({ rounds, say: output.note });
  const tables: [Marker, string][] = [['images', renderImages(figures.images, base)]];
  if ('runtimes' in figures) tables.push(['starts', renderStarts(figures, rounds, machine)]);
  if (write) await writeTables(tables);
  output.result({ machine, base, rounds, ...figures }, () => tables.map(([, table]) => table).join('\n\n'));
  return exitCodes.ok;
}

async function writeTables(tables: readonly [Marker, string][]): Promise<void> {
  const file = join(cloneRoot(), 'docs/docker.md');
  const page = await readFile(file, 'utf8');
  await writeFile(
    file,
    tables.reduce((text, [marker, table]) => replaceBetween(text, marker, table), page),
  );
}

/** An image that came from a registry has that registry's digest; another one was made here. */
async function describeBase(): Promise<string> {
  const { engine } = await requireEngine(process.env, 'measuring containers');
  const { RepoDigests = [] } = await engine.getImage(BASE).inspect();
  return RepoDigests.length > 0 ? `\`${BASE}\`` : `a stand-in of \`${BASE}\` that was made without a registry,`;
}

process.exitCode = await runBenchmark(command, measure);
