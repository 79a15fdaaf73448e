/**
 * Makes the Secrets of overlays/local, with new passwords: `npm run --silent deploy:secrets | kubectl apply -f -`. Once
 * per cluster: a PostgreSQL that has been set up keeps its first passwords. Prints them, so its output belongs in a pipe;
 * it refuses a terminal (exit code 2).
 */

import { scramVerifier } from '../cli/src/providers/postgres/scram.ts';
import { privileges } from '../cli/src/providers/postgres/set-up.ts';
import { brokerDefinitions } from '../cli/src/providers/rabbitmq/configuration.ts';
import { createSecrets, type Secrets } from '../cli/src/providers/secrets.ts';
import { brokerUrl, databaseAccount, databaseUrl } from '../cli/src/providers/urls.ts';
import { databaseNames, OPERATOR_ROLE } from '../cli/src/topology/databases.ts';

if (process.stdout.isTTY) {
  console.error('The output holds passwords. Pipe it: npm run --silent deploy:secrets | kubectl apply -f -');
  process.exit(2);
}
const secrets = createSecrets();
const items = Object.entries(await secretData(secrets)).map(([name, stringData]) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'shop', labels: { 'app.kubernetes.io/part-of': 'shop' } },
  stringData,
}));
console.log(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, null, 2));

/** Every Secret that the manifests name, by name. */
async function secretData(secrets: Secrets): Promise<Record<string, Record<string, string>>> {
  const postgres = { address: { host: 'postgres', port: 5432 }, secrets };
  const rabbitmq = { address: { host: 'rabbitmq', port: 5672 }, secrets };
  return {
    ...Object.fromEntries(
      databaseNames.flatMap((name) => [
        [`${name}-database`, { url: databaseUrl('service', name, postgres) }],
        [`${name}-database-owner`, { url: databaseUrl('owner', name, postgres) }],
      ]),
    ),
    'orders-broker': { url: brokerUrl('orders', rabbitmq) },
    'shipping-broker': { url: brokerUrl('shipping', rabbitmq) },
    'postgres-superuser': { password: secrets.postgres.superuser },
    'postgres-roles': { 'roles.sql': await rolesScript(secrets) },
    'rabbitmq-definitions': { 'definitions.json': brokerDefinitions(secrets) },
  };
}

/** For psql, as a superuser, in a new cluster: roles, databases and privileges, as `shopctl up` makes them. */
async function rolesScript(secrets: Secrets): Promise<string> {
  const accounts = [
    databaseAccount('operator', 'orders', secrets),
    ...databaseNames.flatMap((name) => [
      databaseAccount('owner', name, secrets),
      databaseAccount('service', name, secrets),
    ]),
  ];
  const roles = await Promise.all(
    accounts.map(
      async ({ user, password }) =>
        `CREATE ROLE ${user} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD '${await scramVerifier(password)}';`,
    ),
  );
  const databases = databaseNames.map(
    (name) => `CREATE DATABASE ${name} OWNER ${name}_owner;\n\\connect ${name}${privileges(name)}`,
  );
  return [
    `-- Roles, databases and privileges; ${OPERATOR_ROLE} reads all five.`,
    ...roles,
    'REVOKE ALL ON DATABASE postgres, template1 FROM PUBLIC;',
    ...databases,
    '',
  ].join('\n');
}
