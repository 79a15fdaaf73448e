import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DEFAULT_DRAIN_TIMEOUT_MS } from '@shop/kit/config.ts';
import type { InstrumentationKind } from '@shop/kit/telemetry/instrumentation.ts';
import { TELEMETRY_SHUTDOWN_MS } from '@shop/kit/telemetry/shutdown.ts';
import { spawnProcess } from '../process/spawn.ts';
import type { ChildRegistry } from './component-unit.ts';
import type { Project } from './project.ts';
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
  /** No part of a bundle: another version must restart services too. */
  const library = join(root, 'node_modules/@grpc/grpc-js/package.json');
  return {
    kind: 'process',
    async source({ name, semiSpaceMb }) {
      const bundle = join(root, 'dist', bundles.services, `${name}.mjs`);
      // A build leaves equal files untouched.
      const files = await Promise.all([telemetry, bundle].map((file) => stat(file)));
      return {
        version: [...files.map(({ mtimeMs }) => mtimeMs), await versionIn(library)].join(' '),
        start: async ({ env, logFile, inspector, front }, conditions) =>
          spawnProcess({
            command: process.execPath,
            args: [
              '--enable-source-maps',
              `--max-semi-space-size=${semiSpaceMb}`,
              ...(inspector === undefined ? [] : [`--inspect-wait=${inspector}`]),
              '--require',
              telemetry,
              bundle,
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

async function versionIn(manifest: string): Promise<string> {
  return (JSON.parse(await readFile(manifest, 'utf8')) as { version: string }).version;
}
