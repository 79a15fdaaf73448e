import { spawn } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPortAllocator } from '../../../cli/src/platform/ports.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { guardProcess, startGuard } from '../../support/guard.ts';

const START_LIMIT_MS = 60_000;

/**
 * Restate's server with its default durability, on loopback, with separate data. It ends with this process, however
 * that ends.
 */
export interface RestateServer extends AsyncDisposable {
  readonly pid: number;
  readonly ingress: string;
  readonly admin: string;
  /** A free port for the process that it calls. */
  readonly endpointPort: number;
}

export async function openRestateServer(program: string): Promise<RestateServer> {
  const folder = await mkdtemp(join(tmpdir(), 'shop-restate-'));
  const guard = startGuard(folder);
  const allocator = createPortAllocator({});
  const [ingress, admin, fabric, endpointPort] = await Promise.all(
    ['ingress', 'admin', 'fabric', 'endpoint'].map((name) => allocator.reserve(name)),
  );
  const at = (port: number | undefined) => `127.0.0.1:${port}`;
  const child = spawn(program, ['--no-logo', '--listen-mode', 'tcp'], {
    detached: true,
    stdio: 'ignore',
    env: {
      PATH: process.env.PATH,
      // It leaves a folder for each of its tasks there.
      TMPDIR: folder,
      RESTATE_BASE_DIR: folder,
      RESTATE_BIND_ADDRESS: at(fabric),
      RESTATE_INGRESS__BIND_ADDRESS: at(ingress),
      RESTATE_ADMIN__BIND_ADDRESS: at(admin),
      RESTATE_DISABLE_TELEMETRY: 'true',
      RESTATE_LOG_FILTER: 'error',
      DO_NOT_TRACK: '1',
    },
  });
  guardProcess(folder, 'restate-server', child);
  const close = () => guard[Symbol.asyncDispose]();
  try {
    await eventually("Restate's server to be ready", { withinMs: START_LIMIT_MS }, async () => {
      const responses = await Promise.all([
        fetch(`http://${at(ingress)}/restate/health`),
        fetch(`http://${at(admin)}/health`),
      ]);
      return responses.every(({ ok }) => ok);
    });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    pid: child.pid as number,
    ingress: `http://${at(ingress)}`,
    admin: `http://${at(admin)}`,
    endpointPort: endpointPort as number,
    [Symbol.asyncDispose]: close,
  };
}
