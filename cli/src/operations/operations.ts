import { CliError, messageOf, toCliError } from '../errors.ts';
import type { Asked, Change, ChangeLog } from '../platform/change-log.ts';
import type { DatabaseName } from '../topology/databases.ts';
import { type Administration, type AdministrationOptions, createAdministration } from './administration.ts';
import { countsOf, ownerOf, readSessions, type SessionName, terminateSessions } from './sessions.ts';
import { makeWritable } from './writable.ts';

export interface OperationsOptions extends Pick<AdministrationOptions, 'project' | 'state'> {
  readonly changes: ChangeLog;
  /** Called after each change, and after one that failed: it may be in effect in part. */
  onChanged(target: string, message: string): void;
}

/** Of each operation that changes something. */
export interface ChangeOptions {
  readonly asked: Asked;
  /** Nothing is changed. */
  readonly dryRun: boolean;
}

/** What operators can have the supervisor do, by the last part of its route. Each gives plain JSON. */
export function createOperations({ changes, onChanged, ...platform }: OperationsOptions) {
  const administration = withErrors(
    createAdministration({
      ...platform,
      clientName: 'shopctl-ops',
      unavailable: { code: 'operation_unavailable', subject: 'its operator commands are' },
    }),
  );

  /** With lines in the change log. */
  async function recorded<T>(
    { asked, dryRun }: ChangeOptions,
    effects: readonly Effect[],
    work: () => Promise<T>,
  ): Promise<T> {
    if (dryRun || effects.length === 0) return work();
    const record = async (failed?: string) => {
      await changes.append(
        ...effects.map((effect) => ({
          kind: 'ops' as const,
          ...effect,
          ...asked,
          ...(failed !== undefined && { failed }),
        })),
      );
      for (const { target, from, to } of effects)
        onChanged(target, `${from}: ${to}${failed === undefined ? '' : ` (${failed})`}`);
    };
    let result: T;
    try {
      result = await work();
    } catch (error) {
      await record(toCliError(error).code);
      throw error;
    }
    await record();
    return result;
  }

  return {
    'db-sessions': ({ databases }: { readonly databases: readonly DatabaseName[] }) =>
      readSessions(databases, administration),

    'db-terminate': async ({ sessions, ...options }: ChangeOptions & { readonly sessions: readonly SessionName[] }) => {
      const effects = [...Map.groupBy(sessions, ({ database }) => database)].map(([database, own]) => ({
        target: `${database}-db`,
        from:
          own.length === 1
            ? `session ${own[0]?.pid} of ${ownerOf(own[0] as SessionName)}`
            : `sessions: ${countsOf(own)}`,
        to: 'ended',
      }));
      await recorded(options, effects, () => terminateSessions(sessions, options.dryRun, administration));
      return { sessions, dryRun: options.dryRun };
    },

    'db-writable': async ({ database, ...options }: ChangeOptions & { readonly database: DatabaseName }) => {
      const { settings } = await makeWritable(database, true, administration);
      const effects = settings.length === 0 ? [] : [{ target: `${database}-db`, from: 'read-only', to: 'writable' }];
      return recorded(options, effects, () => makeWritable(database, options.dryRun, administration));
    },
  };
}

type Effect = Pick<Change, 'target' | 'from' | 'to'>;

/** The functions that `POST /v1/operations/NAME` calls with the request's body. */
export type Operations = ReturnType<typeof createOperations>;

/** SQLSTATE classes after which another try may work: connection, resources, operator intervention. */
const PASSING = ['08', '53', '57', '58'];

/** The same with errors that a user can act on. */
function withErrors(administration: Administration): Administration {
  return {
    ...administration,
    async query(database, text, values) {
      try {
        return await administration.query(database, text, values);
      } catch (error) {
        throw error instanceof CliError ? error : explain(database, error);
      }
    },
  };
}

function explain(database: DatabaseName, error: unknown): CliError {
  const { code } = error as { code?: unknown };
  const state = typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
  const isRefused = state !== undefined && !PASSING.includes(state.slice(0, 2));
  return new CliError({
    code: isRefused ? 'database_refused' : 'database_unreachable',
    what: `the ${database} database ${isRefused ? 'refused a statement' : 'does not respond'}`,
    why: state === undefined ? messageOf(error) : `${messageOf(error)} (SQLSTATE ${state})`,
    next: 'see "shopctl status" and "shopctl logs postgres"',
    cause: error,
  });
}
