import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { findOnPath, newestFirst } from '../executables.ts';

/** Where RabbitMQ and the Erlang it runs on are. */
export interface RabbitMqLayout {
  /** Holds `plugins` and `sbin`. */
  readonly home: string;
  /** "3.10.8". */
  readonly version: string;
  /** Erlang's own root: holds `lib`, `bin` and `erts-<version>`. */
  readonly erlangRoot: string;
  /** `<erlangRoot>/erts-<version>/bin`. */
  readonly ertsBin: string;
}

/** Folders of Debian, Red Hat, Homebrew and the generic archive. */
const SERVER_FOLDERS = [
  '/usr/lib/rabbitmq/lib/rabbitmq_server-*',
  '/opt/homebrew/opt/rabbitmq',
  '/usr/local/opt/rabbitmq',
  '/home/linuxbrew/.linuxbrew/opt/rabbitmq',
  '/opt/rabbitmq',
];
const ERLANG_FOLDERS = [
  '/usr/lib/erlang',
  '/usr/lib64/erlang',
  '/opt/homebrew/opt/erlang*/lib/erlang',
  '/usr/local/opt/erlang*/lib/erlang',
  '/home/linuxbrew/.linuxbrew/opt/erlang*/lib/erlang',
  '/usr/local/lib/erlang',
];

/** RabbitMQ as installed on this machine, or why there is none. */
export async function findInstalledRabbitMq(env: NodeJS.ProcessEnv): Promise<RabbitMqLayout | string> {
  const onPath = await findOnPath('rabbitmq-server', env);
  const erl = await findOnPath('erl', env);
  return findLayout(
    [...(onPath ? [dirname(dirname(onPath))] : []), ...(await existing(SERVER_FOLDERS))],
    [...(erl ? [dirname(dirname(erl))] : []), ...(await existing(ERLANG_FOLDERS))],
  );
}

/** RabbitMQ in an unpacked tree of Debian packages. */
export async function findUnpackedRabbitMq(root: string): Promise<RabbitMqLayout | string> {
  return findLayout(await existing([join(root, 'usr/lib/rabbitmq/lib/rabbitmq_server-*')]), [
    join(root, 'usr/lib/erlang'),
  ]);
}

async function findLayout(homes: readonly string[], erlangRoots: readonly string[]): Promise<RabbitMqLayout | string> {
  const home = homes.find((folder) => existsSync(join(folder, 'plugins')));
  if (home === undefined) return 'rabbitmq-server is not installed';
  const version = await versionOf(home);
  if (version === undefined) return `${home}: holds no plugins/rabbit-<version> folder`;
  for (const erlangRoot of erlangRoots) {
    const [ertsBin] = await newestFirst(join(erlangRoot, 'erts-*/bin'));
    if (ertsBin !== undefined && existsSync(join(ertsBin, 'erlexec'))) return { home, version, erlangRoot, ertsBin };
  }
  return `RabbitMQ ${version} is in ${home}, but its Erlang was not found (looked for erlexec in ${erlangRoots.join(', ')})`;
}

async function versionOf(home: string): Promise<string | undefined> {
  const [app] = await newestFirst(join(home, 'plugins', 'rabbit-[0-9]*'));
  return app === undefined
    ? undefined
    : basename(app)
        .replace(/^rabbit-/, '')
        .replace(/\.ez$/, '');
}

async function existing(patterns: readonly string[]): Promise<string[]> {
  return (await Promise.all(patterns.map((pattern) => newestFirst(pattern)))).flat();
}

/** An application folder in the plugins folder: its name without the version, and where it is. */
export interface ErlangApplication {
  readonly name: string;
  readonly folder: string;
}

/**
 * The applications in `plugins` that RabbitMQ itself needs: `rabbit` and, transitively, what their `.app` files name.
 * Applications that are not there belong to Erlang. Throws when the plugins are archives (`.ez`), as of old versions.
 */
export async function neededApplications(plugins: string): Promise<ErlangApplication[]> {
  // One look at the folder: one for each of 25 applications takes 50 ms of CPU.
  const folders = await newestFirst(join(plugins, '*-[0-9]*'));
  const needed = new Map<string, ErlangApplication>();
  const open = ['rabbit'];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (needed.has(name)) continue;
    const folder = folders.find((one) => /^(.*?)-\d/.exec(basename(one))?.[1] === name);
    if (folder === undefined) continue;
    needed.set(name, { name, folder });
    open.push(...(await dependenciesOf(name, folder)));
  }
  if (!needed.has('rabbit')) throw new Error(`${plugins}: holds no application "rabbit"`);
  return [...needed.values()];
}

async function dependenciesOf(name: string, folder: string): Promise<string[]> {
  const resource = await readFile(join(folder, 'ebin', `${name}.app`), 'utf8');
  const lists = [
    ...resource.matchAll(/\{\s*(?:applications|included_applications|optional_applications)\s*,\s*\[([^\]]*)\]/g),
  ];
  return lists
    .flatMap(([, list = '']) => list.split(',').map((part) => part.trim().replaceAll("'", '')))
    .filter(Boolean);
}

/** `erl_call`, which runs an expression in a node without starting another Erlang. */
export async function newestErlCall({ erlangRoot, ertsBin }: RabbitMqLayout): Promise<string | undefined> {
  const candidates = [
    join(ertsBin, 'erl_call'),
    ...(await newestFirst(join(erlangRoot, 'lib/erl_interface-*/bin/erl_call'))),
  ];
  return candidates.find((file) => existsSync(file));
}
