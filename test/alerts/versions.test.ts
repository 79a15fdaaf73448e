/*
 * Goal: each Prometheus that is here loads the rules, and evaluates all of them without an error.
 * Method: a real one with the rules of a profile, and nothing to scrape. PROMETHEUS_FOLDERS names folders of further versions.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serverArguments } from '../../cli/src/providers/prometheus/server.ts';
import { createPrometheusClient } from '../../cli/src/shop/prometheus.ts';
import { profiles } from '../../cli/src/slo/profiles.ts';
import { freePort } from '../support/free-port.ts';
import { hasPromtool, versions } from './promtool.ts';

const root = new URL('../../', import.meta.url).pathname;
const LIMIT = { timeout: 60_000, interval: 200 };

const majors = new Set(versions.map(({ version }) => version.split('.')[0]));
if (majors.size === 1) {
  process.stderr.write(
    `rules are loaded by Prometheus ${versions.map(({ version }) => version).join(' and ')} alone: name a folder with prometheus and promtool of another major version in PROMETHEUS_FOLDERS\n`,
  );
}

/** Runs Prometheus with these rule files, each group every second, as long as the block lasts. */
async function startPrometheus(program: string, files: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'shop-prometheus-'));
  const [configuration, data, port] = [join(folder, 'prometheus.yml'), join(folder, 'data'), await freePort()];
  await mkdir(data);
  // A group that is evaluated every two minutes would have no result for as long.
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  const rules = texts.map((text) => text.replaceAll(/interval: \w+/g, 'interval: 1s'));
  await Promise.all(rules.map((text, index) => writeFile(join(folder, `${index}.yaml`), text)));
  await writeFile(
    configuration,
    JSON.stringify({ rule_files: rules.map((_, index) => join(folder, `${index}.yaml`)) }),
  );
  const child = spawn(program, serverArguments({ configuration, data, port }), { stdio: 'ignore', cwd: folder });
  const ended = once(child, 'exit');
  return {
    client: createPrometheusClient(`http://127.0.0.1:${port}`),
    async [Symbol.asyncDispose]() {
      child.kill();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const cases = versions.flatMap(({ version, prometheus }) =>
  Object.values(profiles).map(({ name }) => ({ name, version, prometheus })),
);

describe.skipIf(!hasPromtool).each(cases)('Prometheus $version', { timeout: 120_000 }, (one) => {
  it(`evaluates the rules of ${one.name}`, async () => {
    const folder = `${root}dashboards/prometheus/${one.name}`;
    const files = ['recording.yaml', 'alerts.yaml'].map((file) => join(folder, file));
    await using running = await startPrometheus(one.prometheus, files);
    const rules = () => running.client.rules().catch(() => []);
    const waiting = async () => {
      const all = await rules();
      return all.length === 0 ? 'not ready' : all.filter(({ health }) => health === 'unknown').length;
    };
    await expect.poll(waiting, LIMIT).toBe(0);
    expect((await rules()).filter(({ health }) => health !== 'ok')).toEqual([]);
    const written = (await Promise.all(files.map((file) => readFile(file, 'utf8')))).join('\n');
    expect(await rules()).toHaveLength(written.match(/^ *- (alert|record): /gm)?.length ?? 0);
    expect(await running.client.version()).toContain(one.version);
  });
});
