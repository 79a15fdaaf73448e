import { join } from 'node:path';
import { CliError } from '../errors.ts';
import type { ComponentName } from '../topology/components.ts';
import { checkCached } from './cached-program.ts';
import type { Address, ComponentContext, Launch, ProcessSpec, Provider, ProviderKind } from './component.ts';
import { findOnPath } from './executables.ts';
import { buildGoProgram, type GoProgram } from './go-build.ts';
import { httpProbe } from './http-probe.ts';
import { type PackagedProgram, packagedSource, unpackedFile } from './packaged-program.ts';
import { available, installable, nothing, unavailable } from './provider-checks.ts';
import type { Release } from './release/release.ts';
import { releaseSource } from './release/release-source.ts';

/** A component that is one program with an HTTP API: Toxiproxy, Jaeger, Prometheus. */
export interface Program {
  readonly component: ComponentName;
  /** "Toxiproxy". */
  readonly title: string;
  /** Environment variable with the base URL of one that already runs. */
  readonly urlVariable: string;
  /** Its name on PATH. */
  readonly command: string;
  /** Of the API, responds 200 when it serves: "/version". */
  readonly readyPath: string;
  /** Its address is a page or an API that people open. */
  readonly hasPages?: boolean;
  readonly release: Release;
  readonly go: Pick<GoProgram, 'modulePath' | 'mainPackage' | 'version' | 'tags' | 'ldflags' | 'also'>;
  /** The distribution's package that has it, if one is used. */
  readonly packaged?: PackagedProgram;
  /** Why one that is installed here cannot be used; undefined when it can. */
  obstacle?(file: string, env: NodeJS.ProcessEnv): Promise<string | undefined>;
  /** Said with an installable way: "about half a minute". */
  readonly buildTime: string;
  /** Arguments, environment, and whatever must exist before it starts. */
  plan(context: ComponentContext, command: string): Promise<ProgramPlan>;
}

export interface ProgramPlan {
  readonly address: Address;
  readonly info: Readonly<Record<string, string | number>>;
  readonly spec: ProcessSpec;
  prepare(): Promise<void>;
  refresh?(): Promise<readonly string[]>;
}

/** The ways that all such programs share; the docker way is added by the caller. */
export function programProviders(program: Program, context: ComponentContext, docker: Provider): readonly Provider[] {
  return [
    urlSource(program, context),
    systemSource(program, context),
    cacheSource(program, context),
    docker,
    downloadSource(program, context),
    ...(program.packaged ? [packagesSource(program, program.packaged, context)] : []),
    goBuildSource(program, context),
  ];
}

function urlSource(
  { component, title, urlVariable, readyPath, hasPages }: Program,
  { env }: ComponentContext,
): Provider {
  const url = env[urlVariable];
  return {
    kind: 'url',
    check: async () =>
      url ? available('url', `${urlVariable} is set`) : unavailable('url', `${urlVariable} is not set`),
    async launch() {
      const { hostname, port, protocol, href } = externalAddress(urlVariable, url ?? '');
      const address = { host: hostname, port: Number(port || (protocol === 'https:' ? 443 : 80)) };
      return {
        component,
        kind: 'url',
        detail: `${title} at ${address.host}:${address.port} (${urlVariable})`,
        run: { type: 'external' },
        address,
        info: {},
        ...(hasPages && { url: href.replace(/\/$/, '') }),
        externalUrl: href,
        prepare: nothing,
        probe: httpProbe(new URL(readyPath, href).href),
        setUp: nothing,
        cleanUp: nothing,
      };
    },
  };
}

/** Throws CliError (2) for an invalid one, and for one with an account: requests cannot have it, and errors would show it. */
function externalAddress(variable: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url;
  throw new CliError({
    code: 'invalid_configuration',
    what: `${variable} is not a URL that can be used`,
    why: 'it must be http://host:port or https://host, without user and password',
    next: 'correct it, or unset it',
  });
}

function systemSource(program: Program, context: ComponentContext): Provider {
  return {
    kind: 'installed',
    async check() {
      const file = await findOnPath(program.command, context.env);
      if (file === undefined) return unavailable('installed', `no "${program.command}" on PATH`);
      const obstacle = await program.obstacle?.(file, context.env);
      return obstacle === undefined ? available('installed', file) : unavailable('installed', obstacle);
    },
    async launch() {
      const file = await findOnPath(program.command, context.env);
      if (file === undefined) throw new Error(`no "${program.command}" on PATH`);
      return launchProgram(program, context, 'installed', file);
    },
  };
}

function cacheSource(program: Program, context: ComponentContext): Provider {
  const file = cachedFile(program, context);
  return {
    kind: 'cache',
    check: () => checkCached(file),
    launch: () => launchProgram(program, context, 'cache', file),
  };
}

/** Once downloaded, the program is found in the cache. */
function downloadSource(program: Program, context: ComponentContext): Provider {
  const file = cachedFile(program, context);
  return {
    ...releaseSource(program.release, file, context),
    launch: () => launchProgram(program, context, 'release', file),
  };
}

/** The distribution's package, unpacked into the cache directory by an ordinary user. */
function packagesSource(program: Program, packaged: PackagedProgram, context: ComponentContext): Provider {
  return {
    ...packagedSource(packaged, context),
    launch: () => launchProgram(program, context, 'packages', unpackedFile(packaged, context)),
  };
}

/** Once built, the program is found in the cache: this way itself only ever installs. */
function goBuildSource(program: Program, context: ComponentContext): Provider {
  const file = cachedFile(program, context);
  return {
    kind: 'go',
    async check() {
      const go = await findOnPath('go', context.env);
      if (go !== undefined) return installable('go', `can be built with ${go} (${program.buildTime})`);
      return unavailable('go', `no "go" on PATH; install Go from go.dev, or put "${program.command}" on PATH`);
    },
    launch: () => launchProgram(program, context, 'go', file),
    install: (onProgress, signal) =>
      buildGoProgram({ title: program.title, ...program.go, target: file }, context, onProgress, signal),
  };
}

/** Where a program that was downloaded or built is. */
export function cachedFile(
  { command, go }: Pick<Program, 'command' | 'go'>,
  { cacheDir }: Pick<ComponentContext, 'cacheDir'>,
): string {
  return join(cacheDir, `${command}-${go.version}`, command);
}

async function launchProgram(
  program: Program,
  context: ComponentContext,
  kind: ProviderKind,
  file: string,
): Promise<Launch> {
  const { address, info, spec, prepare, refresh } = await program.plan(context, file);
  return {
    component: program.component,
    kind,
    detail: `${program.title} from ${file}`,
    run: { type: 'process', spec },
    address,
    info,
    ...(program.hasPages && { url: `http://${address.host}:${address.port}` }),
    prepare,
    ...(refresh && { refresh }),
    probe: httpProbe(`http://${address.host}:${address.port}${program.readyPath}`),
    setUp: nothing,
    cleanUp: nothing,
  };
}
