import { CliError } from '../../errors.ts';
import {
  type ContractMigration,
  migrationsAgainst,
  type RefusedMigration,
  type ReleaseInUse,
  refusedMigrations,
  releasesGivenUp,
  type StartingRelease,
} from './contract-migrations.ts';

/** One database before its migrations are applied. */
export interface SchemaChange {
  /** The service that owns it. */
  readonly service: string;
  /** Nothing was ever applied to it: no release has rows in it. */
  readonly isNew: boolean;
  readonly pending: readonly ContractMigration[];
  readonly inEffect: readonly ContractMigration[];
  /**
   * A command asks for it while PostgreSQL serves. Absent where PostgreSQL has started, perhaps after a crash: services that run
   * then go on, whatever the clone has.
   */
  readonly isAsked?: boolean;
}

/** One database after its migrations were applied. */
export interface SchemaState {
  readonly service: string;
  readonly inEffect: readonly ContractMigration[];
  /** What was applied at the price of the way back. */
  readonly pointsOfNoReturn: readonly PointOfNoReturn[];
}

export type PointOfNoReturn = { readonly name: string; readonly givenUp: readonly string[] };

/** Decides whether a database may be changed, and whether what will be started can run on it. */
export interface SchemaGate {
  /**
   * Resolves with the migrations that give up the way back to kept releases. Throws CliError (`migration_refused`,
   * `release_too_old`).
   */
  pass(change: SchemaChange): Promise<readonly PointOfNoReturn[]>;
  /** Called with each database that was looked at. */
  passed(state: SchemaState): void;
}

export interface SchemaGateOptions {
  /** Everything that may run on the database of a service; asked only where it matters. */
  releasesOf(service: string): Promise<readonly ReleaseInUse[]>;
  /** The way back to kept releases may be given up for this migration. */
  isPointOfNoReturn(service: string, migration: string): boolean;
  passed?: SchemaGate['passed'];
  /** What to do about a refusal, in the words of the program that asks. */
  readonly advice: { readonly kept: string; readonly running: string };
}

export function createSchemaGate(options: SchemaGateOptions): SchemaGate {
  const { releasesOf, isPointOfNoReturn, passed = () => undefined, advice } = options;
  return {
    passed,
    async pass({ service, isNew, pending, inEffect, isAsked = false }) {
      if (pending.length === 0 && inEffect.length === 0) return [];
      const releases = await releasesOf(service);
      const started = releases.filter(({ use }) => use === 'built');
      const goesOn = !isAsked && releases.some(({ use }) => use === 'running');
      for (const release of goesOn ? [] : started) admitRelease(release, inEffect);
      const concerned = isNew ? started : releases;
      const refused = pending.flatMap((migration) =>
        refusedMigrations({
          pending: [migration],
          releases: concerned,
          pointOfNoReturn: isPointOfNoReturn(service, migration.name),
        }),
      );
      const [first] = refused;
      if (first !== undefined) throw refusal(service, first, advice);
      return pending.flatMap((migration) => {
        const givenUp = releasesGivenUp([migration], concerned).map(describeRelease);
        return givenUp.length === 0 ? [] : [{ name: migration.name, givenUp }];
      });
    },
  };
}

/** Where nothing is known of what runs: a database with rows in it is not contracted. */
export const cautiousGate: SchemaGate = createSchemaGate({
  releasesOf: async (service) => [{ service, use: 'running', where: 'nothing is known of what runs' }],
  isPointOfNoReturn: () => false,
  advice: { kept: '', running: 'apply it with "shopctl up" or with the image of migrations' },
});

/** Throws CliError (`release_too_old`) for a release that cannot run on its database with these contract migrations. */
export function admitRelease(release: StartingRelease, inEffect: readonly ContractMigration[]): void {
  const [first] = migrationsAgainst(release, inEffect);
  if (first === undefined) return;
  const { service, atLeast } = first.requires;
  throw new CliError({
    code: 'release_too_old',
    what: `${describeRelease(release)} cannot run on the database ${service}`,
    why: `the migration ${service}/${first.name} was applied, and requires ${service} >= ${atLeast}; no migration goes back`,
    next: `run ${service} ${atLeast} or newer, or begin without data ("shopctl down -v")`,
  });
}

function refusal(
  service: string,
  { name, requires, releases }: RefusedMigration,
  advice: SchemaGateOptions['advice'],
): CliError {
  const isOnlyKept = releases.every(({ use }) => use === 'kept');
  return new CliError({
    code: 'migration_refused',
    what: `the migration ${service}/${name} is refused`,
    why: `it requires ${service} >= ${requires.atLeast}, and ${releases.map(describeUse).join('; ')}`,
    next: isOnlyKept ? advice.kept : advice.running,
  });
}

function describeRelease({ service, version, where }: StartingRelease): string {
  return `${service} ${version ?? 'of an unknown version'} (${where})`;
}

const uses = {
  running: 'runs',
  built: 'is what the next start runs',
  kept: 'is kept and can come back',
} as const;

function describeUse(release: ReleaseInUse): string {
  return `${describeRelease(release)} ${uses[release.use]}`;
}
