import type { BuiltImage } from '../../../cli/src/images/build-image.ts';
import type { Machine } from '../report.ts';
import type { Summary } from '../rounds.ts';
import type { DockerFigures } from './measure.ts';

/** Where a table stands in docs/docker.md. */
export type Marker = 'images' | 'starts';

/** Sizes in millions of bytes, as `docker images` counts; all that differs is what each image adds to the base they share. */
export function renderImages(images: readonly BuiltImage[], base: string): string {
  const all = images.reduce((sum, { ownBytes }) => sum + ownBytes, 0);
  const shared = Math.max(...images.map(({ sizeBytes, ownBytes }) => sizeBytes - ownBytes));
  return [
    '| image | size | of it its own |',
    '| --- | --- | --- |',
    ...images.map(
      ({ service, sizeBytes, ownBytes }) =>
        `| shop/${service} | ${megabytes(sizeBytes, 0)} | ${megabytes(ownBytes, 1)} |`,
    ),
    `| all ${images.length} together | ${megabytes(shared + all, 0)} | ${megabytes(all, 1)} |`,
    '',
    `On ${base} of ${megabytes(shared, 0)}, which they share. In millions of bytes, as \`docker images\` counts (\`shopctl build\` counts by 1024).`,
  ].join('\n');
}

export function renderStarts(
  { components, runtimes: { process, docker } }: DockerFigures,
  rounds: number,
  { cpus, memoryGb, system, node, load1 }: Machine,
): string {
  const row = (name: string, of: (figures: typeof process) => Summary, show: (value: number) => string) =>
    `| ${name} | ${range(of(process), show)} | ${range(of(docker), show)} |`;
  return [
    `${cpus}, ${memoryGb} GB, ${system}, Node ${node}, load before the run ${load1.toFixed(1)}; ${rounds} rounds in rotating order; ${components.join(', ')}; images there already. Median (range):`,
    '',
    '| | as processes | in containers |',
    '| --- | --- | --- |',
    row('`up`, everything stopped before, data there', ({ upMs }) => upMs, seconds),
    row('a service until ready, six starting concurrently', ({ serviceMs }) => serviceMs, seconds),
    row(
      'memory of the six services (resident)',
      ({ rssBytes }) => rssBytes,
      (bytes) => megabytes(bytes, 0),
    ),
  ].join('\n');
}

function range({ median, min, max }: Summary, show: (value: number) => string): string {
  return `${show(median)} (${show(min)} to ${show(max)})`;
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
const megabytes = (bytes: number, digits: number) => `${(bytes / 1e6).toFixed(digits)} MB`;

/** The page with what stands between the markers of that name replaced. Throws when it has none. */
export function replaceBetween(page: string, marker: Marker, text: string): string {
  const begin = `<!-- ${marker}: npm run bench:docker -- --write -->`;
  const end = `<!-- /${marker} -->`;
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`the page has no ${begin} before ${end}`);
  return `${page.slice(0, from + begin.length)}\n\n${text}\n\n${page.slice(to)}`;
}
