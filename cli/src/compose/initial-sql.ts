import { privileges } from '../providers/postgres/set-up.ts';
import { databaseNames, OPERATOR_ROLE } from '../topology/databases.ts';

/**
 * What a new PostgreSQL needs before the first migration, for psql: roles, databases, privileges. `password` is that of all
 * roles, between quotes.
 */
export function initialSql(password: string): string {
  const roles = [OPERATOR_ROLE, ...databaseNames.flatMap((name) => [`${name}_owner`, name])];
  return [
    ...roles.map((role) => `CREATE ROLE ${role} LOGIN PASSWORD '${password}';`),
    ...databaseNames.map((name) => `CREATE DATABASE ${name} OWNER ${name}_owner;`),
    'REVOKE ALL ON DATABASE postgres, template1 FROM PUBLIC;',
    ...databaseNames.map((name) => `\\connect ${name}\n${privileges(name).trim().replaceAll(/^ +/gm, '')}`),
    '',
  ].join('\n');
}
