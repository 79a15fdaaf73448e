import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { CliError } from '../../errors.ts';
import type { DatabaseDisk } from '../../operations/disk-space.ts';
import { operate } from '../../operations/operations-client.ts';
import { countsOf, type DatabaseSession, type SessionName } from '../../operations/sessions.ts';
import type { ReadOnlySetting, WritableResult } from '../../operations/writable.ts';
import { formatTable } from '../../output/table.ts';
import { formatBytes } from '../../output/units.ts';
import { unknownService } from '../../platform/unknown-service.ts';
import { type DatabaseName, databaseNames } from '../../topology/databases.ts';
import { type ChangingOptions, changeOf } from './changing.ts';
import { describeSessions, nameOf } from './render-sessions.ts';

export interface SessionsOptions extends CommonOptions {
  readonly all?: boolean;
}

export interface TerminateOptions extends ChangingOptions {
  readonly application?: string;
  readonly database?: string;
  readonly started?: string;
}

/** `shopctl ops db sessions`. */
export async function runSessions(
  name: string | undefined,
  { all = false, ...options }: SessionsOptions,
  deps: CommandDeps,
): Promise<void> {
  const databases = name === undefined ? databaseNames : [databaseNamed(name)];
  const report = await operate(deps.projectFrom(options), 'db-sessions', { databases });
  deps.output.result(report, () => describeSessions(report, databases, { all, columns: deps.output.columns }));
}

/** `shopctl ops db terminate`. */
export async function runTerminate(
  pids: readonly number[],
  { application, database, started, ...options }: TerminateOptions,
  deps: CommandDeps,
): Promise<void> {
  checkUsage(pids, { application, started });
  const project = deps.projectFrom(options);
  const databases = database === undefined ? databaseNames : [databaseNamed(database)];
  const { sessions } = await operate(project, 'db-sessions', { databases });
  const chosen =
    application === undefined
      ? pids.map((pid) => theSession(pid, sessions, started))
      : sessions.filter((session) => session.application === application);
  if (chosen.length === 0) throw notFound(`no session of an application "${application}"`);
  const result = await operate(project, 'db-terminate', {
    sessions: chosen.map(namesOf),
    ...changeOf(options),
  });
  deps.output.result(result, ({ sessions, dryRun }) => {
    const verb = dryRun ? 'would end' : 'ended';
    if (sessions.length > MAX_LINES) return `${verb} ${countsOf(sessions)}`;
    return sessions.map((session) => `${verb} ${nameOf(session)}`).join('\n');
  });
}

/** `shopctl ops db writable`. */
export async function runWritable(name: string, options: ChangingOptions, deps: CommandDeps): Promise<void> {
  const database = databaseNamed(name);
  const result = await operate(deps.projectFrom(options), 'db-writable', { database, ...changeOf(options) });
  deps.output.result(result, describeWritable);
}

/** `shopctl ops db free`. */
export async function runFree(name: string, options: ChangingOptions, deps: CommandDeps): Promise<void> {
  const database = databaseNamed(name);
  const result = await operate(deps.projectFrom(options), 'db-free', { database, ...changeOf(options) });
  deps.output.result(result, describeDisks);
}

/** What the supervisor needs of a session. */
function namesOf({ pid, database, startedAt, role, application }: DatabaseSession): SessionName {
  return { pid, database, startedAt, role, application };
}

/** More sessions than these are counted, not listed. */
const MAX_LINES = 10;

/** Throws CliError (2). */
function databaseNamed(name: string): DatabaseName {
  const found = databaseNames.find((one) => name === one || name === `${one}-db`);
  if (found === undefined) throw unknownService(name, databaseNames);
  return found;
}

function checkUsage(
  pids: readonly number[],
  { application, started }: { readonly application: string | undefined; readonly started: string | undefined },
): void {
  if (started !== undefined && pids.length !== 1) {
    throw new CliError({ code: 'invalid_usage', what: '--started belongs to one pid', next: 'give exactly one pid' });
  }
  if (pids.length > 0 !== (application !== undefined)) return;
  throw new CliError({
    code: 'invalid_usage',
    what: application === undefined ? 'no session was named' : 'pids and --application exclude each other',
    next: 'give pids, or --application NAME, as "shopctl ops db sessions" shows them',
  });
}

function theSession(pid: number, sessions: readonly DatabaseSession[], started: string | undefined): DatabaseSession {
  const found = sessions.find((session) => session.pid === pid);
  if (found === undefined) throw notFound(`no session ${pid}`);
  if (started === undefined || started === found.startedAt) return found;
  throw new CliError({
    code: 'session_changed',
    what: `${pid} is another session now`,
    why: `it began at ${found.startedAt}, and the one that was meant at ${started}; nothing was ended`,
    next: `look again with "shopctl ops db sessions ${found.database}"`,
  });
}

function notFound(what: string): CliError {
  return new CliError({ code: 'session_not_found', what, next: 'list them with "shopctl ops db sessions"' });
}

function describeWritable({ database, settings, sessions, dryRun }: WritableResult): string {
  if (settings.length === 0) return `nothing makes ${database} read-only`;
  const [reset, ended] = dryRun ? ['would reset', 'would end'] : ['reset', 'ended'];
  return [
    ...settings.map((setting) => `${reset} default_transaction_read_only of ${placeOf(setting)}`),
    `${ended} ${sessions} ${sessions === 1 ? 'session' : 'sessions'} that began with it`,
  ].join('\n');
}

function placeOf({ role, database }: ReadOnlySetting): string {
  return `${role === null ? 'all roles' : `role ${role}`} in ${database ?? 'all databases'}`;
}

function describeDisks({
  database,
  disks,
  dryRun,
}: {
  readonly database: DatabaseName;
  readonly disks: readonly DatabaseDisk[];
  readonly dryRun: boolean;
}): string {
  const table = formatTable(
    ['DISK OF', 'FREE', 'STATE'],
    disks.map(({ tablespace, freeBytes, isFull }) => [tablespace, formatBytes(freeBytes), isFull ? 'full' : '-']),
  );
  const full = disks.filter(({ isFull }) => isFull);
  if (full.length === 0) return `${table}\n\nno disk of ${database} is full`;
  const verb = dryRun ? 'would move' : 'moved';
  return `${table}\n\n${full.map(({ objects }) => `${verb} ${objects.join(', ')} into the data directory`).join('\n')}`;
}
