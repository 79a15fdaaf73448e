const VERSION = /^(\d+)\.(\d+)\.(\d+)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;

/** Whether a text is a version as Semantic Versioning writes it: `0.3.0`, `1.0.0-rc.1`, `0.3.0+3f2a9c1b`. */
export function isVersion(text: string): boolean {
  return VERSION.test(text);
}

/**
 * Whether `version` is older than `other`. A pre-release is older than its release; two pre-releases of one release count
 * as equal, and so do two builds. Throws RangeError for what is not a version.
 */
export function isOlder(version: string, other: string): boolean {
  const [own, others] = [numbersOf(version), numbersOf(other)];
  const index = own.findIndex((number, place) => number !== others[place]);
  return index !== -1 && (own[index] as number) < (others[index] as number);
}

function numbersOf(text: string): readonly number[] {
  const match = VERSION.exec(text);
  if (match === null) throw new RangeError(`"${text}" is not a version`);
  const [, major, minor, patch, preRelease] = match;
  return [Number(major), Number(minor), Number(patch), preRelease === undefined ? 1 : 0];
}
