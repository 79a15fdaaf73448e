/**
 * What containers cost beside processes: the sizes of the images, how long `shopctl up` and a service take, and memory, with
 * both runtimes in one run. `npm run bench:docker -- [--rounds N] [--images] [--json] [--write]`; `--images` leaves out all
 * that takes time, `--write` puts the tables into docs/docker.md. Needs a Docker engine, on a machine that does nothing else.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { requireEngine } from '../../cli/src/images/service-engine.ts';
import { cloneRoot } from '../../cli/src/platform/project.ts';
import { measureDocker, measureImages } from './docker/measure.ts';
import { type Marker, renderImages, renderStarts, replaceBetween } from './docker/render.ts';
import { describeMachine } from './report.ts';

const BASE = 'node:24-slim';
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    images: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1) throw new RangeError('--rounds takes a whole number from 1');

const machine = describeMachine();
const base = await describeBase();
const say = (line: string) => process.stderr.write(`${line}\n`);
const figures = values.images ? { images: await measureImages() } : await measureDocker({ rounds, say });
const tables: [Marker, string][] = [['images', renderImages(figures.images, base)]];
if ('runtimes' in figures) tables.push(['starts', renderStarts(figures, rounds, machine)]);
if (values.write) {
  const file = join(cloneRoot(), 'docs/docker.md');
  const page = await readFile(file, 'utf8');
  await writeFile(
    file,
    tables.reduce((text, [marker, table]) => replaceBetween(text, marker, table), page),
  );
}
console.log(
  values.json
    ? JSON.stringify({ machine, base, rounds, ...figures }, null, 2)
    : tables.map(([, table]) => table).join('\n\n'),
);

/** An image that came from a registry has that registry's digest; another one was made here. */
async function describeBase(): Promise<string> {
  const { engine } = await requireEngine(process.env, 'measuring containers');
  const { RepoDigests = [] } = await engine.getImage(BASE).inspect();
  return RepoDigests.length > 0 ? `\`${BASE}\`` : `a stand-in of \`${BASE}\` that was made without a registry,`;
}
