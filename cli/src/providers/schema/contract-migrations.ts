import { isOlder, isVersion } from '../../shared/version-order.ts';

/*
 * A contract migration removes or narrows what older releases of its service use, so it says which release is the first
 * that does without: `-- requires: orders >= 0.4.0`. While an older one may run, it is refused; once it is applied, older
 * releases are refused. Everything here is pure.
 */

/** What a contract migration requires of every release that may run on its database. */
export interface Requirement {
  /** The service that owns the database; no other one reads it. */
  readonly service: string;
  /** The first release that does without what the migration removes. */
  readonly atLeast: string;
}

/** A release of a service that may run on a database now or later. */
export interface ReleaseInUse {
  readonly service: string;
  /** Absent where nothing reports it; then it may be any. */
  readonly version?: string;
  /**
   * `running`: an instance runs it. `built`: the next start runs it. `kept`: it is kept to be rolled back to. Only the last
   * can be given up.
   */
  readonly use: 'running' | 'built' | 'kept';
  /** The instance or the folder: `orders-1`, `dist/releases/orders/0.3.0`. */
  readonly where: string;
}

/** What is about to run: a release of a service, and where it comes from. */
export type StartingRelease = Pick<ReleaseInUse, 'service' | 'version' | 'where'>;

/** A migration that its database has not, or has, by its name in the folder: `0007_total_removed`. */
export interface ContractMigration {
  readonly name: string;
  readonly requires: Requirement;
}

/** A migration that must not be applied now, with what stands in its way. */
export interface RefusedMigration extends ContractMigration {
  readonly releases: readonly ReleaseInUse[];
}

const LINE = /^[ \t]*--[ \t]*requires[ \t]*:(.*)$/gim;
const REQUIREMENT = /^([a-z]+) >= (\S+)$/;

/**
 * The requirement in the text of a migration of `service`; undefined where it has none. Throws Error for a line that is
 * not `-- requires: SERVICE >= VERSION`, for a second one, and for another service.
 */
export function parseRequirement(text: string, service: string): Requirement | undefined {
  const [line, ...others] = [...text.matchAll(LINE)].map(([, rest = '']) => rest.trim());
  if (line === undefined) return undefined;
  const [, named, atLeast = ''] = REQUIREMENT.exec(line) ?? [];
  if (named === undefined || !isVersion(atLeast)) {
    throw new Error(`"-- requires: ${line}" must be "-- requires: ${service} >= VERSION", like ">= 0.4.0"`);
  }
  if (named !== service) {
    throw new Error(`"-- requires: ${line}" names ${named}, but only ${service} uses this database`);
  }
  if (others.length > 0) throw new Error('there is more than one "-- requires:" line; keep the newest version');
  return { service, atLeast };
}

export interface Refusing {
  /** Contract migrations that the database has not. */
  readonly pending: readonly ContractMigration[];
  /** Everything that may run on the database; of other services, too. */
  readonly releases: readonly ReleaseInUse[];
  /** Gives up the way back to releases that are only kept. */
  readonly pointOfNoReturn?: boolean;
}

/** The pending migrations that must not be applied now, each with the releases that still need what it removes. */
export function refusedMigrations({
  pending,
  releases,
  pointOfNoReturn = false,
}: Refusing): readonly RefusedMigration[] {
  return pending.flatMap((migration) => {
    const older = releases.filter(
      (release) => isTooOld(release, migration.requires) && !(pointOfNoReturn && release.use === 'kept'),
    );
    return older.length === 0 ? [] : [{ ...migration, releases: older }];
  });
}

/** The releases to which there is no way back once `migrations` are applied: `refusedMigrations` without them is empty. */
export function releasesGivenUp(
  migrations: readonly ContractMigration[],
  releases: readonly ReleaseInUse[],
): readonly ReleaseInUse[] {
  return releases.filter(
    (release) => release.use === 'kept' && migrations.some(({ requires }) => isTooOld(release, requires)),
  );
}

/** The migrations in effect that a release of a service cannot run on; for a rollback, and for the start of an older build. */
export function migrationsAgainst(
  release: Pick<ReleaseInUse, 'service' | 'version'>,
  applied: readonly ContractMigration[],
): readonly ContractMigration[] {
  return applied.filter(({ requires }) => isTooOld(release, requires));
}

/** A deploy adds to a version what it was built from, `0.3.0-g2a3047fe`. That makes no pre-release of it. */
const BUILT_FROM = /-[bdg][0-9a-f]{8}(?=\+|$)/;

function isTooOld({ service, version }: Pick<ReleaseInUse, 'service' | 'version'>, requires: Requirement): boolean {
  if (service !== requires.service) return false;
  if (version === undefined || !isVersion(version)) return true;
  return isOlder(version.replace(BUILT_FROM, ''), requires.atLeast);
}
