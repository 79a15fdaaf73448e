import { chmod, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { unless } from '../../shared/unless.ts';
import { writePrivateFile } from '../private-file.ts';

/** What Prometheus is started with, in the project's state folder. */
export interface PrometheusFiles {
  /** Holds the configuration and the rules. */
  readonly folder: string;
  readonly configuration: string;
  readonly rules: string;
  readonly data: string;
}

/** Rule files by name, with their content. */
export type Rules = ReadonlyMap<string, string>;

/** Where the clone has the rules of one machine. */
const RULES_IN_CLONE = 'dashboards/prometheus/laptop';
const RULE_FILE = /\.ya?ml$/;
/** Read by another user where Prometheus runs in a container. Nothing in it is secret, and the folder above is private. */
const [FILE_MODE, FOLDER_MODE] = [0o644, 0o755];

export function prometheusFiles(stateDir: string): PrometheusFiles {
  const folder = join(stateDir, 'prometheus');
  return {
    folder,
    configuration: join(folder, 'prometheus.yml'),
    rules: join(folder, 'rules'),
    data: join(stateDir, 'data', 'prometheus'),
  };
}

/** Every second, as services export; names and labels are those of the services. Alerts go to the same address. Pure. */
export function prometheusConfiguration({ rules }: PrometheusFiles, telemetryUrl: string): string {
  const { host } = new URL(telemetryUrl);
  const targets = () => [{ targets: [host] }];
  return stringify({
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: [join(rules, '*.yaml'), join(rules, '*.yml')],
    scrape_configs: [{ job_name: 'shop', honor_labels: true, static_configs: targets() }],
    alerting: { alertmanagers: [{ api_version: 'v2', timeout: '2s', static_configs: targets() }] },
  });
}

/** The rules in the clone; none where it has no such folder. */
export function rulesOfClone(root: string): Promise<Rules> {
  return readRules(join(root, RULES_IN_CLONE));
}

/** The rule files in a folder; none where it is not there. */
export async function readRules(folder: string): Promise<Rules> {
  const names = (await readdir(folder).catch(unless('ENOENT'))) ?? [];
  const wanted = names.filter((name) => RULE_FILE.test(name)).toSorted();
  return new Map(
    await Promise.all(wanted.map(async (name) => [name, await readFile(join(folder, name), 'utf8')] as const)),
  );
}

/** The names of the files that differ, that are new, or that are gone. Pure. */
export function changedRules(before: Rules, now: Rules): readonly string[] {
  const names = new Set([...before.keys(), ...now.keys()]);
  return [...names].filter((name) => before.get(name) !== now.get(name)).toSorted();
}

/**
 * Copies of the rules: a Prometheus that starts again after a crash has those with which it was started, whatever is
 * being edited meanwhile.
 */
export async function writeRules({ rules: folder }: PrometheusFiles, rules: Rules): Promise<void> {
  await makeFolder(folder);
  for (const [name, content] of rules) await writePrivateFile(join(folder, name), content, FILE_MODE);
  const gone = [...(await readRules(folder)).keys()].filter((name) => !rules.has(name));
  for (const name of gone) await rm(join(folder, name));
}

export async function writeConfiguration(files: PrometheusFiles, telemetryUrl: string): Promise<void> {
  await makeFolder(files.folder);
  await writePrivateFile(files.configuration, prometheusConfiguration(files, telemetryUrl), FILE_MODE);
}

/** Whatever the umask says. */
async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, FOLDER_MODE);
}
