import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { CliError } from '../../errors.ts';
import type { BuiltImage } from '../../images/build-image.ts';
import { buildImages } from '../../images/build-images.ts';
import { type ImageSubject, imageSubjects } from '../../images/images.ts';
import { requireEngine } from '../../images/service-engine.ts';
import { formatTable } from '../../output/table.ts';
import { formatBytes } from '../../output/units.ts';
import { unknownService } from '../../platform/unknown-service.ts';
import { formatDuration } from '../../shared/duration.ts';

export interface BuildOptions extends CommonOptions {
  readonly tag?: string;
  readonly force?: boolean;
  readonly harness?: boolean;
}

/** `shopctl build`. */
export async function runBuild(names: readonly string[], options: BuildOptions, deps: CommandDeps): Promise<void> {
  const { output, env, signal } = deps;
  const services = chosen(names);
  checkTag(options.tag);
  const { root } = deps.projectFrom(options);
  const { engine } = await requireEngine(env, 'building images');
  const progress = output.progress(`building images of ${services.join(', ')}`);
  const began = performance.now();
  try {
    const { tag, force = false } = options;
    const build = options.harness ? 'harness' : 'production';
    const images = await buildImages(services, { engine, root, tag, build, force, signal, progress });
    progress.succeed(summary(images, performance.now() - began));
    output.result(
      images.map(({ user: _, identity: __, ...image }) => image),
      () => describe(images),
    );
  } catch (error) {
    if (signal.aborted) progress.stop();
    else progress.fail('not built');
    throw error;
  }
}

function summary(images: readonly BuiltImage[], tookMs: number): string {
  const count = images.filter(({ built }) => built).length;
  return count === 0
    ? 'images are up to date'
    : `${count} of ${images.length} images built in ${formatDuration(tookMs)}`;
}

function chosen(names: readonly string[]): readonly ImageSubject[] {
  for (const name of names) {
    if (!(imageSubjects as readonly string[]).includes(name)) throw unknownService(name, imageSubjects);
  }
  return names.length === 0 ? imageSubjects : imageSubjects.filter((name) => names.includes(name));
}

/** Source: "Repository and tag naming" of the Docker reference. */
function checkTag(tag: string | undefined): void {
  if (tag === undefined || /^\w[\w.-]{0,127}$/.test(tag)) return;
  throw new CliError({
    code: 'invalid_argument',
    what: `"${tag}" is not an image tag`,
    why: 'a tag has up to 128 letters, digits, underscores, dots and dashes, and begins with none of the last two',
    next: 'choose another with --tag',
  });
}

function describe(images: readonly BuiltImage[]): string {
  return formatTable(
    ['IMAGE', 'ID', 'SIZE', 'OWN LAYERS', 'BUILT'],
    images.map(({ name, id, sizeBytes, ownBytes, built, tookMs }) => [
      name,
      id.replace('sha256:', '').slice(0, 12),
      formatBytes(sizeBytes),
      `${(ownBytes / 1024 ** 2).toFixed(1)} MB`,
      built ? `in ${formatDuration(tookMs)}` : 'was there',
    ]),
  );
}
