// Goal: compose.yaml alone runs the whole application, and leaves nothing behind.
// Method: "docker compose up" with the images of this clone, in a separate compose project. Skipped, with the reason
// printed, without an engine, its images, or Compose 2.23.1, the first that reads a configuration from the file itself.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { offDefinition } from '@shop/kit/flag-file.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { flagFile } from '../../cli/src/platform/flag-file.ts';
import { writeFlags } from '../../cli/src/platform/flag-store.ts';
import { cloneRoot } from '../../cli/src/platform/project.ts';
import { containerImages } from '../../cli/src/providers/docker-plans.ts';
import { serviceNames } from '../../cli/src/topology/services.ts';
import { createJaegerBackend } from '../../cli/src/trace/backend.ts';
import { freePort } from '../support/free-port.ts';
import { openShell } from './support/cli-run.ts';
import { place } from './support/client.ts';
import { findEngine } from './support/engine.ts';
import { eventually } from './support/eventually.ts';

const { postgres, rabbitmq, jaeger } = containerImages;
const project = `shop-test-${process.pid}`;
const HEALTHY_LIMIT_MS = 120_000;
const TRACE_LIMIT_MS = 15_000;
const SPANS = 31;

const canRun = (await hasCompose()) && (await findEngine('compose.yaml', 'node:24-slim', postgres, rabbitmq, jaeger));

describe.skipIf(!canRun)('docker compose up', () => {
  let env: NodeJS.ProcessEnv;
  let gatewayUrl: string;
  let jaegerUrl: string;
  let flags: string;
  beforeAll(async () => {
    const shell = await openShell();
    const built = await shell.run('build');
    await shell.remove();
    if (built.code !== 0) throw new Error(built.stderr);
    flags = join(await mkdtemp(join(tmpdir(), 'shop-compose-')), 'flags');
    await writeFlags(flagFile(flags), { flags: {} });
    const [shopPort, jaegerPort] = [await freePort(), await freePort()];
    gatewayUrl = `http://127.0.0.1:${shopPort}`;
    jaegerUrl = `http://127.0.0.1:${jaegerPort}`;
    env = {
      ...process.env,
      COMPOSE_PROJECT_NAME: project,
      SHOP_PASSWORD: randomBytes(12).toString('hex'),
      SHOP_FLAGS: flags,
      SHOP_PORT: String(shopPort),
      JAEGER_PORT: String(jaegerPort),
    };
    await compose(env, 'up', '--detach');
    await eventually(
      'six services to be healthy',
      { withinMs: HEALTHY_LIMIT_MS, seen: () => states(env) },
      async () => {
        const all = await states(env);
        return serviceNames.every((name) => all[name] === 'healthy');
      },
    );
  }, 300_000);
  afterAll(async () => {
    await compose(env, 'down', '--volumes');
    expect(await compose(env, 'ps', '--all', '--quiet')).toBe('');
    await rm(dirname(flags), { recursive: true });
  });

  it('confirms an order, whose trace is whole in Jaeger', async () => {
    const { status, body, traceId = '' } = await place({ gatewayUrl });
    expect({ status, body }).toMatchObject({ status: 201, body: { status: 'Confirmed' } });
    await eventually('31 spans', { withinMs: TRACE_LIMIT_MS }, async () => {
      return (await createJaegerBackend(jaegerUrl).trace(traceId)).spans.length === SPANS;
    });
  });

  it('follows a feature flag of the folder that SHOP_FLAGS names, without a restart', async () => {
    await writeFlags(flagFile(flags), {
      flags: { 'publish-order-confirmed-v2': { ...offDefinition, defaultVariant: 'on' } },
    });
    await eventually('an order with both versions of its event', { withinMs: TRACE_LIMIT_MS }, async () => {
      const { traceId = '' } = await place({ gatewayUrl });
      const published = async () => {
        const { spans } = await createJaegerBackend(jaegerUrl).trace(traceId);
        return spans.map(({ name }) => name).filter((name) => name.startsWith('publish '));
      };
      await eventually('its event', { withinMs: TRACE_LIMIT_MS }, async () => (await published()).length > 0);
      return (await published()).includes('publish order.confirmed.v2');
    });
  });

  it('declines what is above the payment limit', async () => {
    const { body } = await place({ gatewayUrl }, { lines: [{ productId: 12, quantity: 1 }] });
    expect(body).toMatchObject({ status: 'Cancelled', reason: 'payment declined' });
  });
});

async function states(env: NodeJS.ProcessEnv): Promise<Readonly<Record<string, string>>> {
  const lines = (await compose(env, 'ps', '--all', '--format', 'json')).split('\n').filter((line) => line !== '');
  const found = lines.map((line) => JSON.parse(line) as { Service: string; State: string; Health: string });
  return Object.fromEntries(found.map(({ Service, State, Health }) => [Service, Health || State]));
}

function compose(env: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, stdout: string, stderr: string) =>
      error ? reject(new Error(`docker compose ${args.join(' ')}: ${stderr || error.message}`)) : resolve(stdout);
    execFile('docker', ['compose', ...args], { cwd: cloneRoot(), env }, done);
  });
}

async function hasCompose(): Promise<boolean> {
  const version = await compose(process.env, 'version', '--short').catch((error: Error) => error);
  const [, major = 0, minor = 0, patch = 0] = /^v?(\d+)\.(\d+)\.(\d+)/.exec(String(version))?.map(Number) ?? [];
  if (major * 1e6 + minor * 1e3 + patch >= 2_023_001) return true;
  process.stderr.write(`skipped: compose.yaml: needs docker compose 2.23.1 (${String(version).split('\n')[0]})\n`);
  return false;
}
