import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChildRegistry } from './component-unit.ts';
import type { Project } from './project.ts';
import type { ServiceRuntime } from './service-runtime.ts';
import { spawnProcess } from './spawn.ts';

/** Longer than a service's own drain limit (DRAIN_TIMEOUT_MS, default 5 s), so that draining is not cut short. */
export const STOP_SERVICE_MS = 7000;

/** Services as Node processes of ours, from the bundles in dist/. */
export function processRuntime({ root }: Pick<Project, 'root'>, registry: ChildRegistry): ServiceRuntime {
  const telemetry = join(root, 'dist/telemetry.cjs');
  return {
    kind: 'process',
    async source({ name, semiSpaceMb }) {
      const bundle = join(root, `dist/services/${name}.mjs`);
      // A build leaves equal files untouched.
      const files = await Promise.all([telemetry, bundle].map((file) => stat(file)));
      return {
        version: files.map(({ mtimeMs }) => mtimeMs).join(' '),
        start: ({ env, logFile }, conditions) =>
          spawnProcess({
            command: process.execPath,
            args: [`--max-semi-space-size=${semiSpaceMb}`, '--require', telemetry, bundle],
            env: { ...env, ...conditions.env, SHOPCTL_MARK: registry.mark },
            cwd: root,
            logFile,
            exitsWithParent: true,
            stopSignal: 'SIGTERM',
            stopTimeoutMs: STOP_SERVICE_MS,
            onStart: registry.started,
            onEnd: registry.ended,
          }),
      };
    },
  };
}
