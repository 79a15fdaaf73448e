// Goal: what a real Prometheus evaluates arrives, ends, and is known to be absent when Prometheus is killed.
// Method: the Prometheus that is here already, on a pager without a platform; without one the tests are skipped, and why is printed.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inspectionContext } from '../platform/component-context.ts';
import { cloneRoot, openProject } from '../platform/project.ts';
import { findTool } from '../providers/resolve-tool.ts';
import { createPagerClient } from './pager-client.ts';
import { type SupervisedPager, startSupervisedPager } from './testing/supervised-pager.ts';

const WAIT_MS = 60_000;
const program = await findPrometheus();
if (program === undefined) console.warn('skipped: no Prometheus is here; "shopctl setup --with prometheus" gets one');

/** It stands beside promtool. */
async function findPrometheus(): Promise<string | undefined> {
  const context = inspectionContext(openProject('shop', cloneRoot(), process.env), process.env);
  const promtool = await findTool('promtool', context);
  if (promtool === undefined) return undefined;
  const file = join(dirname(promtool), 'prometheus');
  return access(file).then(
    () => file,
    () => undefined, // An installation of promtool alone.
  );
}

const rules = (isFiring: boolean) => `groups:
  - name: test
    interval: 1s
    rules:
      - {alert: Watchdog, expr: vector(1)}
      - alert: OutboxStalled
        expr: vector(1) == ${isFiring ? 1 : 0}
        labels: {severity: page, queue: 'a "b"\\c'}
        annotations: {summary: 'it is {{ $value }}'}
`;

describe.skipIf(program === undefined)('a Prometheus that sends alerts to the pager', () => {
  let folder: string;
  let pager: SupervisedPager;
  let prometheus: ChildProcess;
  let url: string;
  const client = () => createPagerClient(openProject('test', folder, { SHOPCTL_HOME: folder }));
  const page = async () => (await client().view()).alerts.find(({ alertname }) => alertname === 'OutboxStalled');

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'shop-pager-'));
    pager = await startSupervisedPager(openProject('test', folder, { SHOPCTL_HOME: folder }));
    const target = `static_configs: [{targets: ['${new URL(pager.url).host}']}]`;
    await writeFile(
      join(folder, 'prometheus.yml'),
      `global: {evaluation_interval: 1s}\nrule_files: [rules.yaml]\nalerting: {alertmanagers: [{api_version: v2, ${target}}]}\n`,
    );
    await writeFile(join(folder, 'rules.yaml'), rules(true));
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const options = {
      'config.file': join(folder, 'prometheus.yml'),
      'storage.tsdb.path': join(folder, 'data'),
      'web.listen-address': `127.0.0.1:${port}`,
      'rules.alert.resend-delay': '2s',
    };
    const words = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
    prometheus = spawn(program as string, [...words, '--web.enable-lifecycle'], { stdio: 'ignore' });
    await once(prometheus, 'spawn');
  }, WAIT_MS);
  afterAll(async () => {
    if (prometheus?.exitCode === null && prometheus.signalCode === null) {
      prometheus.kill('SIGKILL');
      await once(prometheus, 'exit');
    }
    await pager?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  it('has its page notified, with the labels and annotations of the rule', { timeout: WAIT_MS }, async () => {
    await expect.poll(page, { timeout: WAIT_MS }).toMatchObject({
      state: 'firing',
      severity: 'page',
      labels: { queue: 'a "b"\\c' },
      annotations: { summary: 'it is 1' },
      notifiedAt: expect.any(String),
    });
    expect((await client().view()).pipeline).toBe('working');
  });

  it('has it resolved when the rule is silent', { timeout: WAIT_MS }, async () => {
    await writeFile(join(folder, 'rules.yaml'), rules(false));
    const response = await fetch(`${url}/-/reload`, { method: 'POST' });
    expect(response.status).toBe(200);
    await expect.poll(page, { timeout: WAIT_MS }).toBeUndefined();
  });

  it('is missed after it was killed', { timeout: 2 * WAIT_MS }, async () => {
    prometheus.kill('SIGKILL');
    await once(prometheus, 'exit');
    const status = async () => (await client().view()).pipeline;
    await expect.poll(status, { timeout: 2 * WAIT_MS, interval: 500 }).toBe('lost');
    expect(pager.events.recent().map(({ type }) => type)).toContain('pager.pipeline');
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
