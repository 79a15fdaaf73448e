import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readMigrations } from '../providers/postgres/migration-files.ts';
import type { ContractMigration, ReleaseInUse, StartingRelease } from '../providers/schema/contract-migrations.ts';
import { admitRelease, createSchemaGate, type SchemaGate } from '../providers/schema/schema-gate.ts';
import { databaseNames } from '../topology/databases.ts';
import type { Effect } from './changes-of.ts';
import type { PlannerContext } from './plan.ts';
import type { Release } from './release.ts';
import type { InstanceState } from './state.ts';

/** Type of the event that a contract migration gave up the way back to kept releases. */
export const POINT_OF_NO_RETURN = 'schema.point_of_no_return';

/** Its line in the change log. */
export function pointOfNoReturn(service: string, message: string): Effect {
  const [migration = '', givenUp = ''] = message.split(GIVES_UP);
  return { kind: 'point-of-no-return', target: service, from: givenUp, to: migration };
}

const GIVES_UP = ' gives up ';

/** The releases of a service that can be rolled back to. */
export type KeptReleases = (service: string) => Promise<readonly Pick<Release, 'version' | 'folder'>[]>;

export interface PlatformGate extends SchemaGate {
  /** The contract migrations that are in the clone now may give up kept releases, or none may. */
  acceptPointsOfNoReturn(isAccepted: boolean): Promise<void>;
  /**
   * Whatever starts services asks here first. Throws CliError (`release_too_old`) for one that cannot run on its database, as
   * this supervisor saw it last. It does not need PostgreSQL for that, and a restart during an outage stays possible.
   */
  admit(starting: readonly (string | StartingRelease)[]): Promise<void>;
}

/** Contract migrations on a platform: what runs, what is built in the clone, and what is kept there to be rolled back to. */
export function createPlatformGate(
  options: Pick<PlannerContext, 'instances' | 'events'> & { root: string; keptReleases: KeptReleases },
): PlatformGate {
  const { root, instances, events, keptReleases } = options;
  let accepted: ReadonlySet<string> = new Set();
  const inEffect = new Map<string, readonly ContractMigration[]>();
  return {
    ...createSchemaGate({
      releasesOf: async (service) =>
        releasesInUse(service, { root, instances: instances(), kept: await keptReleases(service) }),
      isPointOfNoReturn: (service, migration) => accepted.has(`${service}/${migration}`),
      advice: {
        kept: 'to give up the way back, repeat the command with --point-of-no-return',
        running:
          'first run a release that does without, and add the migration in a later one; or run "shopctl down", then "shopctl up"',
      },
      passed(state) {
        inEffect.set(state.service, state.inEffect);
        for (const { name, givenUp } of state.pointsOfNoReturn) {
          events.add(POINT_OF_NO_RETURN, state.service, `${name}${GIVES_UP}${givenUp.join(', ')}`);
        }
      },
    }),
    async acceptPointsOfNoReturn(isAccepted) {
      accepted = isAccepted ? await contractMigrations(root) : new Set();
    },
    async admit(starting) {
      for (const one of starting) {
        const contracts = inEffect.get(typeof one === 'string' ? one : one.service) ?? [];
        if (contracts.length > 0)
          admitRelease(typeof one === 'string' ? await builtRelease(one, root) : one, contracts);
      }
    },
  };
}

async function contractMigrations(root: string): Promise<ReadonlySet<string>> {
  const all = await Promise.all(
    databaseNames.map(async (service) => {
      const files = await readMigrations(join(root, 'migrations', service));
      return files.filter(({ requires }) => requires !== undefined).map(({ name }) => `${service}/${name}`);
    }),
  );
  return new Set(all.flat());
}

/** Everything that may run on the database of a service: its instances, what a start would run, and what is kept. */
export async function releasesInUse(
  service: string,
  {
    root,
    instances,
    kept,
  }: {
    root: string;
    instances: readonly Pick<InstanceState, 'service' | 'name' | 'status' | 'version'>[];
    kept: Awaited<ReturnType<KeptReleases>>;
  },
): Promise<readonly ReleaseInUse[]> {
  const running = instances.filter((one) => one.service === service && one.status !== 'stopped');
  return [
    ...running.map(({ name, version }): ReleaseInUse => {
      return { service, use: 'running', where: name, ...(version !== undefined && { version }) };
    }),
    await builtRelease(service, root),
    ...kept.map(({ version, folder }): ReleaseInUse => ({ service, use: 'kept', where: folder, version })),
  ];
}

/** What the next start of a service runs: a bundle has the version of the package it is built from. */
async function builtRelease(service: string, root: string): Promise<ReleaseInUse> {
  const where = `services/${service}`;
  const manifest = await readFile(join(root, where, 'package.json'), 'utf8');
  return { service, use: 'built', where, version: (JSON.parse(manifest) as { version: string }).version };
}
