import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  changedRules,
  prometheusConfiguration,
  prometheusFiles,
  readRules,
  rulesOfClone,
  writeConfiguration,
  writeRules,
} from './files.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'prometheus-files-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('the configuration', () => {
  const configuration = () => parse(prometheusConfiguration(prometheusFiles('/state'), 'http://127.0.0.1:4318'));

  it('scrapes the supervisor every second, with the names that services have', () => {
    expect(configuration()).toMatchObject({
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
      scrape_configs: [{ honor_labels: true, static_configs: [{ targets: ['127.0.0.1:4318'] }] }],
    });
  });

  it('takes the copies of the rules, and sends alerts to the supervisor', () => {
    expect(configuration()).toMatchObject({
      rule_files: ['/state/prometheus/rules/*.yaml', '/state/prometheus/rules/*.yml'],
      alerting: { alertmanagers: [{ api_version: 'v2', static_configs: [{ targets: ['127.0.0.1:4318'] }] }] },
    });
  });
});

describe('rules', () => {
  it('are the YAML files of the folder; none where the clone has no such folder', async () => {
    expect(await rulesOfClone(folder)).toEqual(new Map());
    const rules = join(folder, 'dashboards/prometheus/laptop');
    await mkdir(rules, { recursive: true });
    await writeFile(join(rules, 'alerts.yaml'), 'groups: []\n');
    await writeFile(join(rules, 'notes.md'), '# no rules');
    expect(await rulesOfClone(folder)).toEqual(new Map([['alerts.yaml', 'groups: []\n']]));
  });

  it.each([
    ['another content', { 'a.yaml': '1' }, { 'a.yaml': '2' }, ['a.yaml']],
    ['a new file', { 'a.yaml': '1' }, { 'a.yaml': '1', 'b.yaml': '1' }, ['b.yaml']],
    ['a file that is gone', { 'a.yaml': '1', 'b.yaml': '1' }, { 'a.yaml': '1' }, ['b.yaml']],
    ['nothing', { 'a.yaml': '1' }, { 'a.yaml': '1' }, []],
  ])('changed: %s', (_, before, now, changed) => {
    expect(changedRules(new Map(Object.entries(before)), new Map(Object.entries(now)))).toEqual(changed);
  });

  it('that were replaced leave no earlier file', async () => {
    const files = prometheusFiles(folder);
    await writeRules(files, new Map([['old.yaml', '1']]));
    await writeRules(files, new Map([['new.yaml', '2']]));
    expect(await readdir(files.rules)).toEqual(['new.yaml']);
    expect(await readRules(files.rules)).toEqual(new Map([['new.yaml', '2']]));
  });
});

it('what it starts with may be read by the user of a container', async () => {
  const files = prometheusFiles(folder);
  const umask = process.umask(0o077);
  try {
    await writeConfiguration(files, 'http://127.0.0.1:4318');
    await writeRules(files, new Map([['a.yaml', '1']]));
  } finally {
    process.umask(umask);
  }
  const modes = [files.folder, files.configuration, files.rules, join(files.rules, 'a.yaml')].map(
    async (path) => (await stat(path)).mode & 0o777,
  );
  expect(await Promise.all(modes)).toEqual([0o755, 0o644, 0o755, 0o644]);
});
