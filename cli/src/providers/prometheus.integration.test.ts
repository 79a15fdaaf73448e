// Goal: Prometheus scrapes, evaluates the rules of the clone, gives its alerts to the supervisor, and takes changed rules.
// Method: a real one in a temporary folder, with a server in place of the supervisor; skipped where none is available.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { havePrometheus } from '../../../test/support/prometheus.ts';
import { runProgram } from '../process/run-program.ts';
import { createPrometheusClient, type PrometheusClient } from '../shop/prometheus.ts';
import type { ComponentContext, Launch } from './component.ts';
import { prometheusFiles } from './prometheus/files.ts';
import { readVersion } from './prometheus/version.ts';
import { resolveComponent } from './resolve.ts';
import { findTool } from './resolve-tool.ts';
import { aContext, type RunningLaunch, sharedCacheDir, startLaunch, type TestContext } from './testing.ts';

const LIMIT = { timeout: 20_000, interval: 50 };

const groups = (...rules: readonly object[]) => JSON.stringify({ groups: [{ name: 'test', rules }] });

describe.skipIf(!(await havePrometheus()))('Prometheus', () => {
  let folder: TestContext;
  let context: ComponentContext;
  let supervisor: Server;
  /** Names of the alerts that the supervisor was sent. */
  const sent = new Set<string>();
  let launch: Launch;
  let running: RunningLaunch;
  let client: PrometheusClient;

  const editRules = async (content: string) => {
    const rules = join(folder.stateDir, 'clone/dashboards/prometheus/laptop');
    await mkdir(rules, { recursive: true });
    await writeFile(join(rules, 'rules.yaml'), content);
  };
  const readValue = async (expression: string) => (await client.queryInstant(expression))[0]?.value;

  beforeAll(async () => {
    folder = await aContext({ cacheDir: sharedCacheDir() });
    supervisor = createServer(async (request, response) => {
      if (request.method === 'POST' && request.url === '/api/v2/alerts') {
        const alerts = (await json(request)) as readonly { labels: { alertname: string } }[];
        for (const { labels } of alerts) sent.add(labels.alertname);
        return void response.end();
      }
      response.setHeader('content-type', 'text/plain; version=0.0.4');
      response.end('# TYPE orders_total counter\norders_total{job="orders",instance="orders-1"} 7\n');
    });
    await new Promise<void>((resolve) => supervisor.listen(0, '127.0.0.1', resolve));
    const telemetryUrl = `http://127.0.0.1:${(supervisor.address() as AddressInfo).port}`;
    context = { ...folder, root: join(folder.stateDir, 'clone'), telemetryUrl };
    await editRules(groups({ alert: 'SevenOrders', expr: 'orders_total == 7' }));
    launch = await resolveComponent('prometheus', context);
    running = await startLaunch(launch, { logFile: context.logFile('prometheus') });
    client = createPrometheusClient(launch.url ?? '');
  });

  afterAll(async () => {
    await running?.[Symbol.asyncDispose]();
    supervisor?.closeAllConnections();
    supervisor?.close();
    await folder?.[Symbol.asyncDispose]();
  });

  it('responds with what it scraped, under the names of its services', async () => {
    await expect.poll(() => readValue('orders_total{job="orders",instance="orders-1"}'), LIMIT).toBe(7);
    expect(await readValue('up{job="shop"}')).toBe(1);
  });

  it('evaluates the rules and sends alerts to the supervisor', async () => {
    await expect.poll(async () => (await client.alerts()).map(({ name }) => name), LIMIT).toEqual(['SevenOrders']);
    await expect.poll(() => [...sent], LIMIT).toEqual(['SevenOrders']);
  });

  it('takes changed rules, and keeps them where the next ones are broken', async () => {
    const kept = async () => (await client.rules()).map(({ name }) => name);
    await editRules(groups({ record: 'job:orders:sum', expr: 'sum by (job) (orders_total)' }));
    expect(await launch.refresh?.()).toEqual(['rules rules.yaml']);
    expect(await kept()).toEqual(['job:orders:sum']);
    await expect.poll(() => readValue('job:orders:sum'), LIMIT).toBe(7);
    await editRules(groups({ alert: 'Broken', expr: 'sum(' }));
    await expect(launch.refresh?.()).rejects.toThrow(/^\S+rules\.yaml: .*"Broken".*parse error/);
    expect(await kept()).toEqual(['job:orders:sum']);
    await editRules(groups());
    expect(await launch.refresh?.()).toEqual(['rules rules.yaml']);
    expect(await kept()).toEqual([]);
  });

  it('has what it scraped before it was killed, and starts with the rules that it had', async () => {
    const before = Date.now();
    await running.stop('SIGKILL');
    await rm(join(context.root ?? '', 'dashboards'), { recursive: true });
    // After a crash nothing is prepared again.
    running = await startLaunch({ ...launch, prepare: async () => {} });
    const range = { startMs: before - 60_000, endMs: before, stepMs: 1_000 };
    const [series] = await client.queryRange('orders_total', range);
    expect(series?.points.length).toBeGreaterThan(0);
    await expect.poll(() => readValue('timestamp(orders_total)'), LIMIT).toBeGreaterThan(before / 1000);
  });

  it('comes with promtool, which takes its configuration and is of the same version', async () => {
    const promtool = await findTool('promtool', context);
    if (promtool === undefined) throw new Error('no promtool');
    const { configuration } = prometheusFiles(context.stateDir);
    await expect(runProgram(promtool, ['check', 'config', configuration])).resolves.toBeDefined();
    expect(await client.version()).toContain(await readVersion(promtool, process.env));
  });
});
