import { Type } from 'typebox';
import { ConfigError, parseEnvironment } from './config.ts';
import type { FailpointService } from './failpoint-names.ts';
import { createFailpoints, type Failpoint } from './failpoints.ts';
import type { Logger } from './logger.ts';
import type { SeededBugName } from './seeded-bug-names.ts';
import { parseSeededBugs, warnOfSeededBugs } from './seeded-bugs.ts';

/**
 * How tests and chaos make a service misbehave. Its callers are in statements labelled `HARNESS`, which a production
 * build leaves out (scripts/build.mjs, decision 0052).
 */
export interface Harness<Service extends FailpointService> {
  readonly failpoint: Failpoint<Service>;
  readonly seededBugs: ReadonlySet<SeededBugName>;
  /** Where failpoints are armed, and seeded bugs keep state beyond their process. */
  readonly folder: string | undefined;
}

/** What a service has in a production build, and in a harness build until its harness is open. */
export const noHarness = {
  failpoint: async () => {},
  seededBugs: new Set<SeededBugName>(),
  folder: undefined,
} satisfies Harness<FailpointService>;

/** What a service of a harness build reads of its environment as well. */
export const harnessVariables = () =>
  Type.Object({
    FAILPOINT_DIR: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'private folder in which failpoints are armed; without it there are none',
      }),
    ),
    SHOP_SEEDED_BUGS: Type.Optional(
      Type.String({ minLength: 1, description: 'seeded bugs, separated by commas; needs `FAILPOINT_DIR`' }),
    ),
  });

/** Reads the harness's variables and warns of each seeded bug. Throws ConfigError. */
export function openHarness<Service extends FailpointService>(
  service: Service,
  env: NodeJS.ProcessEnv,
  logger: Logger,
): Harness<Service> {
  const values = parseEnvironment(harnessVariables(), env);
  const seededBugs = parseSeededBugs(service, values);
  warnOfSeededBugs(seededBugs, values.SHOP_SEEDED_BUGS, logger);
  return { failpoint: createFailpoints(service, values.FAILPOINT_DIR), seededBugs, folder: values.FAILPOINT_DIR };
}

/** A production build has nothing that these variables could act on: a service that has them was started by mistake. */
export function refuseHarnessVariables(env: NodeJS.ProcessEnv): void {
  let isProduction = true;
  HARNESS: isProduction = false;
  const given = ['FAILPOINT_DIR', 'SHOP_SEEDED_BUGS'].filter((name) => env[name] !== undefined);
  if (!isProduction || given.length === 0) return;
  throw new ConfigError(
    `configuration: ${given.join(', ')} must not be set: this is a production build, which has no failpoints and no seeded bugs; use a harness build (shopctl build --harness)`,
  );
}
