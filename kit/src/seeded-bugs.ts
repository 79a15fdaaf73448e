import { ConfigError } from './config.ts';
import type { Logger } from './logger.ts';
import { isSeededBugName, type SeededBugName, seededBugs } from './seeded-bug-names.ts';

/** Before names: the bugs are built in, and nothing says so (a drill's release). */
const BUILT_IN = 'built-in:';

/**
 * The seeded bugs of a service, from `SHOP_SEEDED_BUGS` (names separated by commas); none where it is not set. Throws
 * ConfigError for a name that is not the service's, and when failpoints are not enabled: a bug is never seeded by accident.
 */
export function parseSeededBugs(
  service: string,
  { SHOP_SEEDED_BUGS: text, FAILPOINT_DIR: folder }: { SHOP_SEEDED_BUGS?: string; FAILPOINT_DIR?: string },
): ReadonlySet<SeededBugName> {
  if (text === undefined) return new Set();
  const names = text.replace(BUILT_IN, '').split(',');
  const own = (name: string): name is SeededBugName => isSeededBugName(name) && seededBugs[name].service === service;
  const wrong = names.filter((name) => !own(name));
  if (wrong.length > 0)
    throw new ConfigError(`configuration: SHOP_SEEDED_BUGS: ${service} has no bug "${wrong.join(', ')}"`);
  if (folder === undefined && !text.startsWith(BUILT_IN))
    throw new ConfigError('configuration: SHOP_SEEDED_BUGS needs FAILPOINT_DIR');
  return new Set(names.filter(own));
}

/** Logs at the start of a service which bugs its environment has. */
export function warnOfSeededBugs(seeded: ReadonlySet<SeededBugName>, text: string | undefined, logger: Logger): void {
  if (text?.startsWith(BUILT_IN)) return;
  for (const name of seeded)
    logger.warn({ seededBug: name, title: seededBugs[name].title }, 'started with a seeded bug');
}
