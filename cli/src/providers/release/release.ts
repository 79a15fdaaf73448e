/** Operating system and processor, in Node's words, that releases are known for. */
export type ReleasePlatform = 'linux-x64' | 'linux-arm64' | 'darwin-x64' | 'darwin-arm64';

/** One archive of an official release, and what proves that it is the right one. */
export interface ReleaseFile {
  /** "k6-v2.2.0-linux-amd64.tar.gz". */
  readonly name: string;
  /** Path of the program inside the archive. */
  readonly program: string;
  /** Paths of further programs in the archive, which are put beside the program under their own names. */
  readonly also?: readonly string[];
  /**
   * SHA-256 of the archive, in hex. Without it, the release's own list of checksums is used. That proves a whole
   * download from that release, and not that the release is the one we once saw.
   */
  readonly sha256?: string;
}

/** A pinned version of a program as its project publishes it. */
export interface Release {
  /** What people call it. */
  readonly title: string;
  /** "v2.2.0". */
  readonly version: string;
  /** Where its files are below the release host, with a slash at the end: "grafana/k6/releases/download/v2.2.0/". */
  readonly folder: string;
  readonly files: Readonly<Record<ReleasePlatform, ReleaseFile>>;
  /** The file of the release with "SHA-256, name" a line; read for archives that have no pinned checksum. */
  readonly checksumList?: string;
}

/** The archive for a platform; undefined where the project publishes none that we know of. */
export function releaseFileFor(
  release: Release,
  platform: string = process.platform,
  arch: string = process.arch,
): ReleaseFile | undefined {
  const files: Readonly<Record<string, ReleaseFile>> = release.files;
  const key = `${platform}-${arch}`;
  return Object.hasOwn(files, key) ? files[key] : undefined;
}
