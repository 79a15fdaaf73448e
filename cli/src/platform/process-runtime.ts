import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DEFAULT_DRAIN_TIMEOUT_MS } from '@shop/kit/config.ts';
import type { InstrumentationKind } from '@shop/kit/telemetry/instrumentation.ts';
import { TELEMETRY_SHUTDOWN_MS } from '@shop/kit/telemetry/shutdown.ts';
import { CliError } from '../errors.ts';
import { spawnProcess } from '../process/spawn.ts';
import type { ChildRegistry } from './component-unit.ts';
import type { Project } from './project.ts';
import type { Release } from './release.ts';
import { bundleIn, isModule } from './service-bundle.ts';
import type { ServiceRuntime } from './service-runtime.ts';

/** Beside a service's own limits: the time in which its process ends. */
const AIR_MS = 1_000;

/** How long a service may take to end, in ms: longer than its own limits, so that neither is cut short. */
export function stopTimeoutMs(env: Readonly<Record<string, string | undefined>>): number {
  return Number(env.DRAIN_TIMEOUT_MS ?? DEFAULT_DRAIN_TIMEOUT_MS) + TELEMETRY_SHUTDOWN_MS + AIR_MS;
}

/** The descriptor after standard input, output and error. */
const FIRST_INHERITED = 3;

/** What services are started from, in dist/. */
const BUNDLES = {
  manual: { telemetry: 'telemetry.cjs', services: 'services' },
  stock: { telemetry: 'instrumented/telemetry.cjs', services: 'instrumented' },
} as const satisfies Record<InstrumentationKind, unknown>;

/** Services as Node processes of ours, from the bundles in dist/. */
export function processRuntime(
  { root }: Pick<Project, 'root'>,
  registry: ChildRegistry,
  instrumentation: InstrumentationKind = 'manual',
): ServiceRuntime {
  const bundles = BUNDLES[instrumentation];
  const telemetry = join(root, 'dist', bundles.telemetry);
  /** Runs bundles with their compiled code. */
  const start = join(root, 'dist/start.cjs');
  /** No part of a bundle: another version must restart services too. */
  const library = join(root, 'node_modules/@grpc/grpc-js/package.json');
  return {
    kind: 'process',
    async source({ name, semiSpaceMb }, release) {
      const folder = release && (await folderOf(root, name, release));
      const preloaded = folder === undefined ? telemetry : join(folder, 'telemetry.cjs');
      const bundle = bundleIn(folder ?? join(root, 'dist', bundles.services), name);
      // A build leaves equal files untouched.
      const files = await Promise.all([preloaded, bundle].map((file) => stat(file)));
      const built = release ? [release.version, release.digest] : files.map(({ mtimeMs }) => mtimeMs);
      return {
        version: [...built, await versionIn(library)].join(' '),
        start: async ({ env, logFile, inspector, front }, conditions) =>
          spawnProcess({
            command: process.execPath,
            args: [
              `--max-semi-space-size=${semiSpaceMb}`,
              ...(inspector === undefined ? [] : [`--inspect-wait=${inspector}`]),
              ...(isModule(bundle) ? ['--require', preloaded, bundle] : [start, preloaded, bundle]),
            ],
            env: {
              ...env,
              ...(front && { LISTEN_FD: String(FIRST_INHERITED) }),
              ...conditions.env,
              SHOPCTL_MARK: registry.mark,
            },
            ...(front && { inherits: [front.descriptor()] }),
            cwd: root,
            logFile,
            exitsWithParent: true,
            stopSignal: 'SIGTERM',
            stopTimeoutMs: stopTimeoutMs(env),
            onStart: registry.started,
            onEnd: registry.ended,
          }),
      };
    },
  };
}

/** Its folder. Throws CliError (3) where it is not there any more. */
async function folderOf(root: string, service: string, { folder, version, image }: Release): Promise<string> {
  const path = join(root, folder);
  if (image === undefined && existsSync(bundleIn(path, service))) return path;
  throw new CliError({
    code: 'release_unavailable',
    what: `the release ${version} of ${service} ${image === undefined ? 'is not there any more' : 'cannot run as a process'}`,
    why: image === undefined ? `${path} has no ${service}.cjs` : `it was built for containers, as the image ${image}`,
    next: `run "shopctl deploy unpin ${service}", then "shopctl up": it starts what the clone has built`,
  });
}

async function versionIn(manifest: string): Promise<string> {
  return (JSON.parse(await readFile(manifest, 'utf8')) as { version: string }).version;
}
