import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { AuditReport } from '../../../cli/src/audit/audit.ts';
import { TraceSampler } from '../../../cli/src/load/trace-sample.ts';
import type { Output } from '../../../cli/src/output/output.ts';
import { connectPlatform, type PlatformConnection } from '../../../cli/src/platform/connection.ts';
import { haveTool } from '../../../cli/src/platform/have-tool.ts';
import { cloneRoot, openProject, type Project } from '../../../cli/src/platform/project.ts';
import { withShopDatabases } from '../../../cli/src/shop/databases.ts';
import { createGatewayClient } from '../../../cli/src/shop/gateway-client.ts';
import { outboxTypesIn } from '../../../cli/src/shop/published-events.ts';
import { warmUp } from '../../../cli/src/shop/warm-up.ts';
import { createBackend } from '../../../cli/src/trace/backend.ts';
import type { Connections } from '../../../scenarios/bench/connections.ts';
import { startGuard } from '../../support/guard.ts';
import { describeMachine } from '../report.ts';
import { type Batch, runBatch } from './batch.ts';
import { createDeploys } from './deploys.ts';
import { balanceOf, readLedger } from './ledger.ts';
import { type Phase, runPhase } from './phase.ts';
import { type Chosen, calmOf, evaluate, type Result, resultOf } from './result.ts';

const run = promisify(execFile);
const PROJECT = 'bench-restarts';
const WARM_UP = { customer: 'Load scenario', quickMs: 100, mostOrders: 200 };

interface Measuring extends Chosen {
  readonly connections: Connections;
}

/**
 * Restarts one service after the other under load, then audits. Side effects: a project in a temporary folder, with k6; both are
 * ended and removed, also when this process is killed.
 */
export async function measureRestarts(chosen: Measuring, output: Output): Promise<Result> {
  const machine = describeMachine();
  const root = cloneRoot();
  const folder = await mkdtemp(join(tmpdir(), 'shop-restarts-'));
  const env = { ...process.env, SHOPCTL_PROBE: 'off', SHOPCTL_HOME: folder, NO_COLOR: '1' };
  const shopctl = join(root, 'cli/bin/shopctl');
  await using _ = startGuard(folder, [shopctl, 'down', '--volumes', '--project', PROJECT], env);
  const project = openProject(PROJECT, root, env);
  const program = await haveTool('k6', project, { output, env, signal: new AbortController().signal });
  const replicas = chosen.services.flatMap((name) => ['--replicas', `${name}=${chosen.replicas}`]);
  output.note(`starting a platform (${chosen.runtime}), ${chosen.replicas} replicas of ${chosen.services.join(', ')}`);
  await run(shopctl, ['up', '--project', PROJECT, '--runtime', chosen.runtime, ...replicas], { env });
  const connection = await connectPlatform(project, env);
  await warmUp(createGatewayClient(connection.gatewayUrl), WARM_UP, new AbortController().signal);
  const k6 = { program, root, folder: join(folder, 'k6') };
  const running = { connection, project, k6, say: output.note };
  const calm = await runCalm(chosen, running);
  const phases = await runPhases(chosen, running);
  const orders = [...calm.orders, ...phases.flatMap(({ phase }) => phase.orders)];
  const ledger = await readLedger({ project, env, runId: PROJECT, folder, orders, say: output.note });
  const services = phases.map(({ service, phase, traces }) =>
    resultOf(service, phase, balanceOf(phase.orders, ledger), traces),
  );
  const found = {
    machine,
    chosen,
    calm: calmOf(calm, balanceOf(calm.orders, ledger)),
    services,
    audit: summaryOf(ledger.report, ledger.stored.length),
  };
  return { ...found, ...evaluate(found) };
}

interface Running {
  readonly connection: PlatformConnection;
  readonly project: Project;
  readonly k6: { readonly program: string; readonly root: string; readonly folder: string };
  say(line: string): void;
}

/** What the machine does with this load while nothing is restarted. */
function runCalm({ rate, connections, calmMs }: Measuring, { connection, k6, say }: Running): Promise<Batch> {
  say('the load without restarts');
  return runBatch(
    {
      gatewayUrl: connection.gatewayUrl,
      rate,
      connections,
      durationS: Math.ceil(calmMs / 1_000),
      phase: 'calm',
      keys: `${PROJECT}-calm`,
      k6,
      onOrder: () => undefined,
    },
    async () => undefined,
  );
}

async function runPhases(chosen: Measuring, { connection, project, k6, say }: Running) {
  const telemetry = createBackend(connection.telemetryUrl);
  const deploys = chosen.deploy && createDeploys(chosen.deploy, { project, telemetry });
  const phases: { service: string; phase: Phase; traces: Awaited<ReturnType<TraceSampler['results']>> }[] = [];
  for (const service of chosen.services) {
    const durationMs = chosen.restarts * chosen.everyMs;
    const traces = new TraceSampler({
      count: chosen.traces,
      durationMs,
      phases: [
        { name: service, startS: 0, durationS: durationMs / 1_000, rate: chosen.rate, vus: 0, demands: 'expected' },
      ],
      project,
      outboxTypes: (id) => withShopDatabases(connection, (databases) => outboxTypesIn(databases)(id)),
      telemetry,
    });
    const phase = await runPhase({
      service,
      restarts: chosen.restarts,
      replicas: chosen.replicas,
      scale: chosen.scale,
      deploys,
      everyMs: chosen.everyMs,
      rate: chosen.rate,
      connections: chosen.connections,
      gatewayUrl: connection.gatewayUrl,
      control: connection.control,
      runId: PROJECT,
      traces,
      k6,
      say,
    });
    phases.push({ service, phase, traces: await traces.results(new AbortController().signal) });
  }
  return phases;
}

function summaryOf(report: AuditReport | string, stored: number): Result['audit'] {
  if (typeof report === 'string') return { verdict: 'unknown', orders: stored, violated: [report] };
  const violated = report.invariants
    .filter(({ verdict }) => verdict !== 'pass' && verdict !== 'skipped')
    .map(({ id, title, verdict, evidence }) => `${id} ${title}: ${verdict}: ${evidence}`);
  return { verdict: report.verdict, orders: stored, violated };
}
