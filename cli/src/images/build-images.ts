import { formatDuration } from '../shared/duration.ts';
import { type BuildImageOptions, type BuiltImage, buildImage } from './build-image.ts';
import type { ImageSubject } from './images.ts';

export interface BuildImagesOptions extends Omit<BuildImageOptions, 'service' | 'onProgress'> {
  readonly progress: { update(text: string): void; note(text: string): void };
}

/** Makes the images that are not there yet. One after the other: the first one makes the layers that the others share. */
export async function buildImages(
  services: readonly ImageSubject[],
  { progress, ...options }: BuildImagesOptions,
): Promise<readonly BuiltImage[]> {
  const images: BuiltImage[] = [];
  for (const service of services) {
    const onProgress = (text: string) => progress.update(`building the image of ${service}: ${text}`);
    const image = await buildImage({ ...options, service, onProgress });
    if (image.built) progress.note(`${image.name} built in ${formatDuration(image.tookMs)}`);
    images.push(image);
  }
  return images;
}
