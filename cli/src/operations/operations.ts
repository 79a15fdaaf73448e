import { CliError, messageOf, toCliError } from '../errors.ts';
import type { Asked, Change, ChangeLog } from '../platform/change-log.ts';
import type { InstanceState, PlatformState } from '../platform/state.ts';
import type { ExtensionContext } from '../platform/supervisor-extension.ts';
import { unknownService } from '../platform/unknown-service.ts';
import type { DatabaseName } from '../topology/databases.ts';
import { type Administration, type AdministrationOptions, createAdministration } from './administration.ts';
import { compareBindings, readAlarms, resetLimits, restoreBindings } from './broker.ts';
import { readClocks, syncClocks, writeOffset } from './clocks.ts';
import { moveFromFullDisks, readDisks } from './disk-space.ts';
import { countsOf, ownerOf, readSessions, type SessionName, terminateSessions } from './sessions.ts';
import { makeWritable } from './writable.ts';

export interface OperationsOptions
  extends Pick<AdministrationOptions, 'project' | 'state'>,
    Pick<ExtensionContext, 'act' | 'changeConditions'> {
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
    const beganAt = new Date().toISOString();
    const record = async (failed?: string) => {
      await changes.append(
        ...effects.map((effect) => ({
          kind: 'ops' as const,
          ...effect,
          ...asked,
          beganAt,
          ...(failed !== undefined && { failed }),
        })),
      );
      for (const { target, from, to } of effects) {
        onChanged(target, [from, to, failed].filter((text) => text !== null && text !== undefined).join(': '));
      }
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

    'db-free': async ({ database, ...options }: ChangeOptions & { readonly database: DatabaseName }) => {
      assertOnThisMachine(platform.state());
      const disks = await readDisks(database, administration);
      const full = disks.filter(({ isFull }) => isFull);
      const effects = full.map(({ tablespace, objects }) => ({
        target: `${database}-db`,
        from: `${objects.join(', ')} in ${tablespace}, which is full`,
        to: 'in the data directory',
      }));
      await recorded(options, effects, async () => {
        if (full.length > 0 && !options.dryRun) await moveFromFullDisks(database, disks, administration);
      });
      return { database, disks, dryRun: options.dryRun };
    },

    'broker-alarms': () => readAlarms(administration),

    'broker-free': async (options: ChangeOptions) => {
      const before = await readAlarms(administration);
      const on = before.alarms.filter(({ isOn }) => isOn).map(({ resource }) => resource);
      const effects = on.map((resource) => ({
        target: 'rabbitmq',
        from: `${resource} alarm`,
        to: 'limit of the configuration',
      }));
      const after = await recorded(options, effects, () =>
        options.dryRun || on.length === 0 ? Promise.resolve(before) : resetLimits(administration),
      );
      return { ended: on, dryRun: options.dryRun, ...after };
    },

    'broker-bindings': async () => ({ bindings: await compareBindings(administration) }),

    'broker-bind': async (options: ChangeOptions) => {
      const before = await compareBindings(administration);
      const missing = before.filter(({ state }) => state === 'missing');
      const effects = missing.map(({ exchange, queue, routingKey }) => ({
        target: queue,
        from: null,
        to: `bound to ${exchange}${routingKey === '' ? '' : ` by ${routingKey}`}`,
      }));
      const bindings = await recorded(options, effects, () =>
        options.dryRun || missing.length === 0 ? Promise.resolve(before) : restoreBindings(administration),
      );
      return { restored: missing, dryRun: options.dryRun, bindings };
    },

    'clock-ls': async ({ service }: { readonly service?: string | undefined }) => ({
      clocks: await readClocks(instancesOf(service, platform.state())),
    }),

    'clock-sync': async ({ service, ...options }: ChangeOptions & { readonly service?: string | undefined }) => {
      const clocks = await readClocks(instancesOf(service, platform.state()));
      const wrong = clocks.filter(({ state }) => state === 'wrong');
      const effects = wrong.map(({ name, offsetMs }) => ({
        target: name,
        from: `clock off by ${writeOffset(offsetMs ?? 0)}`,
        to: 'restarted with the right clock',
      }));
      await recorded(options, effects, async () => {
        if (options.dryRun) return;
        await syncClocks(
          wrong.map(({ name }) => name),
          {
            instances: () => platform.state().instances,
            resetClock: (name) => platform.changeConditions(name, { env: undefined }),
            restart: (name) => platform.act(name, 'restart'),
          },
        );
      });
      return { clocks, restarted: wrong.map(({ name }) => name), dryRun: options.dryRun };
    },
  };
}

type Effect = Pick<Change, 'target' | 'from' | 'to'>;

/** The functions that `POST /v1/operations/NAME` calls with the request's body. */
export type Operations = ReturnType<typeof createOperations>;

/** Throws CliError (2) where nothing has this name. */
function instancesOf(service: string | undefined, { instances }: PlatformState): readonly InstanceState[] {
  const all = instances.filter(({ kind }) => kind === 'service');
  const found = all.filter((one) => service === undefined || one.service === service || one.name === service);
  if (found.length > 0 || service === undefined) return found;
  throw unknownService(service, [...new Set(all.map((one) => one.service))]);
}

/** Throws CliError (3): free space is asked of the file system. */
function assertOnThisMachine({ instances }: PlatformState): void {
  if (instances.find(({ name }) => name === 'postgres')?.provider !== 'docker') return;
  throw new CliError({
    code: 'operation_unavailable',
    what: 'PostgreSQL runs in a container, whose disks this command cannot see',
    next: 'let the platform run it as a process (--provider postgres=embedded)',
  });
}

/** SQLSTATE classes after which another try may work: connection, resources, operator intervention. */
const PASSING = ['08', '53', '57', '58'];

/** The same with errors that a user can act on. */
function withErrors(administration: Administration): Administration {
  return {
    ...administration,
    async query(database, ...statement) {
      try {
        return await administration.query(database, ...statement);
      } catch (error) {
        throw error instanceof CliError ? error : explain(database, error);
      }
    },
    async askBroker(erlang) {
      try {
        return await administration.askBroker(erlang);
      } catch (error) {
        throw error instanceof CliError ? error : brokerUnreachable(error);
      }
    },
  };
}

function brokerUnreachable(cause: unknown): CliError {
  return new CliError({
    code: 'broker_unreachable',
    what: 'the broker does not respond',
    why: messageOf(cause),
    next: 'see "shopctl status" and "shopctl logs rabbitmq"',
    cause,
  });
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
