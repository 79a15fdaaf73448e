import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { failpointsOf } from '@shop/kit/failpoint-names.ts';
import { CliError } from '../errors.ts';
import { countOf, failpointFolder } from '../platform/failpoint-files.ts';
import type { Project } from '../platform/project.ts';
import { serviceNames } from '../topology/services.ts';
import { locateFailpoints } from './coverage-sources.ts';

/** One failpoint of a platform. */
export interface CoveredFailpoint {
  /** `orders.stock-reserved:unsaved` */
  readonly failpoint: string;
  /** What has happened when it is passed, and what has not. */
  readonly description: string;
  /** `services/orders/src/relay.ts:65`; empty when the sources are not there. */
  readonly places: readonly string[];
  /** How often it was passed, and how often it acted, on all instances since the counts began. */
  readonly hits: number;
  readonly acted: number;
}

/** Every failpoint with its counts. Throws CliError (3) when no service of the project ever ran with failpoints. */
export async function readCoverage(
  project: Pick<Project, 'root' | 'stateDir' | 'name'>,
): Promise<readonly CoveredFailpoint[]> {
  const folder = failpointFolder(project);
  if (!existsSync(join(folder, 'hits'))) throw withoutFailpoints(project.name);
  const each = await Promise.all(
    serviceNames.map(async (service) => {
      const located = await locateFailpoints(project.root, service);
      return [...failpointsOf(service)].map(([name, { description }]) => {
        const failpoint = `${service}.${name}`;
        const counts = { hits: countOf(folder, 'hits', failpoint), acted: countOf(folder, 'acted', failpoint) };
        return { failpoint, description, places: located.get(name) ?? [], ...counts };
      });
    }),
  );
  return each.flat();
}

function withoutFailpoints(name: string): CliError {
  return new CliError({
    code: 'failpoints_disabled',
    what: `the services of ${name} have not run with failpoints`,
    why: 'hits are counted only with failpoints enabled',
    next: 'run "shopctl down", then "SHOPCTL_FAILPOINTS=1 shopctl up"',
  });
}
