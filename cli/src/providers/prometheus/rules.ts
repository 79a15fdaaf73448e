import { open } from 'node:fs/promises';
import { messageOf } from '../../errors.ts';
import type { ComponentContext } from '../component.ts';
import {
  changedRules,
  type PrometheusFiles,
  readRules,
  rulesOfClone,
  writeConfiguration,
  writeRules,
} from './files.ts';

type Context = Pick<ComponentContext, 'root' | 'telemetryUrl' | 'logFile'>;

const RELOAD_LIMIT_MS = 10_000;
/** More of its log than a reload that fails writes. */
const MAX_LOG_BYTES = 16_384;

/** Writes what Prometheus starts with. Throws where no supervisor gives metrics. */
export async function prepareFiles(files: PrometheusFiles, { root, telemetryUrl }: Context): Promise<void> {
  if (telemetryUrl === undefined) throw new Error('there is no supervisor whose metrics Prometheus could scrape');
  await writeRules(files, root === undefined ? new Map() : await rulesOfClone(root));
  await writeConfiguration(files, telemetryUrl);
}

/**
 * Loads the rules of the clone where they have changed since, and resolves with their names: `rules alerts.yaml`. Rejects
 * with what Prometheus says of them, and the rules stay as they were.
 */
export async function refreshRules(
  files: PrometheusFiles,
  { root, logFile }: Context,
  url: string,
): Promise<readonly string[]> {
  if (root === undefined) return [];
  const [before, now] = await Promise.all([readRules(files.rules), rulesOfClone(root)]);
  const changed = changedRules(before, now);
  if (changed.length === 0) return [];
  const log = logFile('prometheus');
  const logged = await sizeOf(log);
  try {
    await writeRules(files, now);
    await reload(url);
  } catch (cause) {
    await writeRules(files, before);
    const complaints = complaintsIn(await readFrom(log, logged));
    throw new Error(complaints.length > 0 ? complaints.join('\n') : `${changed.join(', ')}: ${messageOf(cause)}`, {
      cause,
    });
  }
  return changed.map((name) => `rules ${name}`);
}

async function reload(url: string): Promise<void> {
  const response = await fetch(`${url}/-/reload`, { method: 'POST', signal: AbortSignal.timeout(RELOAD_LIMIT_MS) });
  const text = await response.text();
  if (!response.ok) throw new Error(text.trim() || `HTTP ${response.status}`);
}

/** What is said beside the errors themselves. */
const CONSEQUENCE = /previous rule set restored|one or more errors occurred/;

/** What it reports as errors, without time and place in its sources. Pure. */
export function complaintsIn(log: string): readonly string[] {
  const errors = log.split('\n').filter((line) => /\blevel=error\b/i.test(line));
  const texts = errors.map((line) => /\berr="((?:[^"\\]|\\.)*)"/.exec(line)?.[1]?.replaceAll('\\"', '"') ?? line);
  return [...new Set(texts)].filter((text) => !CONSEQUENCE.test(text));
}

async function sizeOf(file: string): Promise<number> {
  await using handle = await open(file, 'a+');
  return (await handle.stat()).size;
}

async function readFrom(file: string, position: number): Promise<string> {
  await using handle = await open(file, 'r');
  const buffer = Buffer.alloc(MAX_LOG_BYTES);
  const { bytesRead } = await handle.read(buffer, 0, MAX_LOG_BYTES, position);
  return buffer.toString('utf8', 0, bytesRead);
}
