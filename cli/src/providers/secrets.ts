import { randomBytes } from 'node:crypto';
import { link, readFile, rm } from 'node:fs/promises';
import { unless } from '../shared/unless.ts';
import { type BrokerUser, brokerUsers, type DatabaseName, databaseNames } from '../topology/databases.ts';
import { writePrivateFile } from './private-file.ts';

/** Passwords of one project's accounts. Generated, kept in one file (0600), never printed. */
export interface Secrets {
  readonly postgres: {
    readonly superuser: string;
    readonly owners: Readonly<Record<DatabaseName, string>>;
    readonly services: Readonly<Record<DatabaseName, string>>;
    readonly operator: string;
  };
  readonly rabbitmq: {
    readonly users: Readonly<Record<BrokerUser, string>>;
    /** A process that knows it can run code in the broker. */
    readonly cookie: string;
  };
}

/** New passwords of 192 random bits each. */
export function createSecrets(): Secrets {
  return {
    postgres: {
      superuser: password(),
      owners: passwordsFor(databaseNames),
      services: passwordsFor(databaseNames),
      operator: password(),
    },
    rabbitmq: { users: passwordsFor(brokerUsers), cookie: password() },
  };
}

/**
 * The secrets in `file`; makes them when there is no such file. Two concurrent callers get the same ones. Throws when
 * the file is there and cannot be used: making others would lock us out of the data they protect.
 */
export async function loadOrCreateSecrets(file: string): Promise<Secrets> {
  const existing = await readSecrets(file);
  if (existing !== undefined) return existing;
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  await writePrivateFile(draft, `${JSON.stringify(createSecrets(), undefined, 2)}\n`);
  try {
    // A link fails when the name is taken: of two writers the first one wins and both read the same file.
    await link(draft, file).catch(unless('EEXIST'));
  } finally {
    await rm(draft, { force: true });
  }
  const stored = await readSecrets(file);
  if (stored === undefined) throw new Error(`${file}: was removed while it was being created; try again`);
  return stored;
}

async function readSecrets(file: string): Promise<Secrets | undefined> {
  const text = await readFile(file, 'utf8').catch(unless('ENOENT'));
  if (text === undefined) return undefined;
  const secrets = parseJson(text);
  if (isComplete(secrets)) return secrets;
  throw new Error(
    `${file}: not a file of secrets (incomplete or damaged). Restore it, or "shopctl down -v" and start again`,
  );
}

function isComplete(value: unknown): value is Secrets {
  const shape = createSecrets();
  return sameKeys(shape, value);
}

function sameKeys(shape: unknown, value: unknown): boolean {
  if (typeof shape === 'string') return typeof value === 'string' && value.length > 0;
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(shape as object).every(([key, inner]) =>
    sameKeys(inner, (value as Record<string, unknown>)[key]),
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message would quote the secret text; the caller reports the file instead.
    return undefined;
  }
}

function passwordsFor<Name extends string>(names: readonly Name[]): Record<Name, string> {
  return Object.fromEntries(names.map((name) => [name, password()])) as Record<Name, string>;
}

function password(): string {
  return randomBytes(24).toString('base64url');
}
