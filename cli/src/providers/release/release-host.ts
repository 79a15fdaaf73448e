const OFFICIAL = 'https://github.com/';

/**
 * Where releases are downloaded from: github.com, or the mirror with the same paths that SHOPCTL_RELEASES_URL names. Throws
 * when that is not a URL. Its password, if it has one, is in no message: those have the host alone.
 */
export function releaseHost({ SHOPCTL_RELEASES_URL: mirror }: NodeJS.ProcessEnv): URL {
  if (!mirror) return new URL(OFFICIAL);
  if (!URL.canParse(mirror)) throw new Error('SHOPCTL_RELEASES_URL is not a URL (expected https://HOST/)');
  return new URL(mirror.endsWith('/') ? mirror : `${mirror}/`);
}
