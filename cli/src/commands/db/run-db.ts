import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { QueryArrayResult } from 'pg';
import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { CliError, messageOf } from '../../errors.ts';
import { formatTable } from '../../output/table.ts';
import type { PlatformConnection } from '../../platform/connection.ts';
import { unknownService } from '../../platform/unknown-service.ts';
import { findOnPath } from '../../providers/executables.ts';
import { type Login, READ_ONLY_OPTION, withClient } from '../../providers/postgres/client.ts';
import { loadOrCreateSecrets } from '../../providers/secrets.ts';
import { databaseAccount } from '../../providers/urls.ts';
import { type DatabaseName, databaseNames } from '../../topology/databases.ts';
import { serviceNames } from '../../topology/services.ts';

export interface DbOptions extends CommonOptions {
  /** An account that may change nothing, or the service's. */
  readonly role: 'read-only' | 'service';
  /** SQL. */
  readonly command?: string;
}

/** `shopctl db SERVICE`. */
export async function runDb(service: string, options: DbOptions, deps: CommandDeps): Promise<void> {
  if (!(databaseNames as readonly string[]).includes(service)) throw noDatabaseOf(service);
  const login = await loginOf(service as DatabaseName, options, await deps.connect(deps.projectFrom(options)));
  if (options.command === undefined && process.stdin.isTTY && deps.output.mode === 'text') {
    if ((await findOnPath('psql', deps.env)) !== undefined) return openPsql(login, deps);
    deps.output.note('psql is not installed: type statements, end them with Ctrl-D');
  }
  const statements = options.command ?? (await text(process.stdin));
  if (statements.trim() === '') {
    throw new CliError({
      code: 'invalid_usage',
      what: 'there is no statement',
      next: `name some: "shopctl db ${service} --command 'SELECT ...'", or pass them on standard input`,
    });
  }
  const results = await run(login, statements, { options, isJson: deps.output.mode === 'json' });
  deps.output.result(results.map(documentOf), () => results.map(describe).join('\n\n'));
}

function noDatabaseOf(service: string): CliError {
  if (!(serviceNames as readonly string[]).includes(service)) return unknownService(service, databaseNames);
  return new CliError({
    code: 'invalid_usage',
    what: `${service} has no database`,
    next: `those that have one: ${databaseNames.join(', ')}`,
  });
}

async function loginOf(
  database: DatabaseName,
  { role }: DbOptions,
  { state, project }: PlatformConnection,
): Promise<Login> {
  const address = state.instances.find(({ name }) => name === 'postgres')?.address;
  if (address === undefined) {
    throw new CliError({
      code: 'database_unreachable',
      what: `the ${database} database does not respond`,
      why: 'PostgreSQL was not started',
      next: `start it with "shopctl up ${database}"`,
    });
  }
  const secrets = await loadOrCreateSecrets(project.secretsFile);
  const account = databaseAccount(role === 'service' ? 'service' : 'reader', database, secrets);
  return { ...address, ...account, database, isReadOnly: role === 'read-only' };
}

/**
 * Hands the terminal to psql and takes over its exit code. Ctrl-C is psql's, where it cancels a statement. The password is
 * in the environment: other users see arguments.
 */
export async function openPsql(login: Login, deps: Pick<CommandDeps, 'env' | 'onInterrupt'>): Promise<void> {
  const { host, port, user, password, database, isReadOnly } = login;
  const child = spawn('psql', [], {
    stdio: 'inherit',
    env: {
      ...deps.env,
      PGHOST: host,
      PGPORT: String(port),
      PGUSER: user,
      PGPASSWORD: password,
      PGDATABASE: database,
      PGAPPNAME: 'shopctl',
      ...(isReadOnly && { PGOPTIONS: READ_ONLY_OPTION }),
    },
  });
  process.removeAllListeners('SIGINT').on('SIGINT', () => undefined);
  deps.onInterrupt(async () => void child.kill());
  process.exitCode = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code === 0 ? 0 : 1));
  });
}

async function run(
  login: Login,
  statements: string,
  { options, isJson }: { options: DbOptions; isJson: boolean },
): Promise<readonly QueryArrayResult[]> {
  try {
    return await withClient(login, async (client) => {
      // As text values are written as PostgreSQL writes them; arrays, because two columns may have the same name.
      const types = isJson ? {} : { types: { getTypeParser: () => (value: string) => value } };
      const found: QueryArrayResult | QueryArrayResult[] = await client.query({
        text: statements,
        rowMode: 'array',
        ...types,
      });
      return [found].flat();
    });
  } catch (error) {
    throw explain(error, login.database, options);
  }
}

/** SQLSTATE of a write in a read-only transaction, and of a missing privilege. */
const READ_ONLY_STATES = ['25006', '42501'];

function explain(error: unknown, database: string, { role }: DbOptions): CliError {
  const { code, position } = error as { code?: unknown; position?: string };
  if (typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code)) {
    return new CliError({
      code: 'database_unreachable',
      what: `the ${database} database does not respond`,
      why: messageOf(error),
      next: 'see whether PostgreSQL runs with "shopctl status", and what it logged with "shopctl logs postgres"',
      cause: error,
    });
  }
  const place = position === undefined ? '' : `, at character ${position}`;
  const isReadOnly = role === 'read-only' && READ_ONLY_STATES.includes(code);
  return new CliError({
    code: 'database_refused',
    what: `the ${database} database rejected a statement`,
    why: `${messageOf(error)} (SQLSTATE ${code}${place})`,
    next: isReadOnly
      ? `"shopctl db ${database} --role service" may change rows`
      : `list the tables with "shopctl db ${database} --command 'SELECT * FROM pg_tables'"`,
    cause: error,
  });
}

function documentOf({ command, rowCount, fields, rows }: QueryArrayResult): object {
  return { command, rowCount, columns: fields.map(({ name }) => name), rows };
}

function describe({ command, rowCount, fields, rows }: QueryArrayResult): string {
  if (fields.length === 0) return rowCount === null ? command : `${command} ${rowCount}`;
  const table = formatTable(
    fields.map(({ name }) => name),
    rows.map((row) => row.map((value) => (value === null ? 'NULL' : String(value)))),
  );
  return `${table}\n(${rows.length} ${rows.length === 1 ? 'row' : 'rows'})`;
}
