import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { messageOf } from '../../errors.ts';
import { callJson, createControlClient } from '../../platform/control-client.ts';
import type { Project } from '../../platform/project.ts';
import type { PlatformState } from '../../platform/state.ts';
import { createBackend } from '../../trace/backend.ts';
import type { Operator } from '../play/operator.ts';
import type { SurfaceText } from './find-leaks.ts';

/** Commands with which a trainee looks at a platform. None of them changes it. */
const COMMANDS: readonly string[] = [
  'status',
  'changes --since 30m',
  'alerts ls',
  'counters',
  'slo',
  'order list --limit 30',
  'saga ls',
  'outbox ls',
  'dlq ls',
  'flags ls',
  'ops db sessions --all',
  'ops broker alarms',
  'ops broker bindings',
  'ops clock ls',
  'deploy status',
  'deploy history',
  'logs --since 10m',
  'chaos status',
  'chaos inject down orders-stock --for 5s',
  'chaos clear --all',
  'drill status',
  'drill page',
  'audit --since 2m --settle 1',
];

/** What the supervisor says to those who ask it without a command. */
const ROUTES = ['/v1/state', '/v1/drill', '/v1/deploys', '/v1/pager', '/v1/chaos'];

const HTTP_LIMIT_MS = 10_000;
/** Data of servers: no text. */
const DATA_FOLDERS = new Set(['postgres', 'rabbitmq', 'prometheus']);
const TEXT_FILE = /\.(json|jsonl|log|txt|yaml|conf)(\.1)?$|^current$/;

export interface Surfaces {
  /** Id of the round that is on. */
  readonly round: string;
  readonly project: Project;
  readonly operator: Operator;
  readonly signal: AbortSignal;
}

/** What a trainee can see of a round that is on, by surface. One that cannot be read is empty, and says why. */
export async function readSurfaces({ round, project, operator, signal }: Surfaces): Promise<readonly SurfaceText[]> {
  const texts: SurfaceText[] = [];
  const read = async (surface: string, work: () => Promise<string>) => {
    signal.throwIfAborted();
    texts.push({ surface, text: await work().catch((error: unknown) => `not read: ${messageOf(error)}`) });
  };
  for (const command of COMMANDS) {
    await read(`shopctl ${command}`, async () => {
      const { stdout, complaint = '' } = await operator.run(command.split(' '));
      // A refusal is read as well.
      return `${stdout}\n${complaint}`;
    });
  }
  for (const path of ROUTES) {
    const request = { project, method: 'GET', path, signal: AbortSignal.timeout(HTTP_LIMIT_MS) };
    await read(`GET ${path}`, async () => JSON.stringify(await callJson(request)));
  }
  const state = await createControlClient(project).state();
  await read('GET /v1/events', () => eventsOf(project));
  await read('GET /metrics', () => textOf(`${state.telemetryUrl}/metrics`, signal));
  await read('GET /api/traces', () => tracesOf(state, signal));
  await read('command lines of processes', () => commandLines(state));
  for (const file of await textFiles(project.stateDir)) {
    const name = relative(project.stateDir, file);
    // An earlier round was revealed.
    if (name.startsWith('drills/') && !name.includes(round) && name !== 'drills/current') continue;
    await read(`file ${name}`, () => readFile(file, 'utf8'));
  }
  return texts;
}

/** Those that could not be read prove nothing. */
export function unread(texts: readonly SurfaceText[]): readonly string[] {
  return texts.filter(({ text }) => text.startsWith('not read: ')).map(({ surface, text }) => `${surface}: ${text}`);
}

async function textOf(url: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(HTTP_LIMIT_MS)]) });
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  return response.text();
}

async function eventsOf(project: Project): Promise<string> {
  const lines: string[] = [];
  for await (const event of createControlClient(project).events({ follow: false })) lines.push(JSON.stringify(event));
  return lines.join('\n');
}

/** Some of those that are stored, with the log records of each. */
async function tracesOf({ telemetryUrl }: PlatformState, signal: AbortSignal): Promise<string> {
  const ids = (await Promise.all(PREFIXES.map((prefix) => createBackend(telemetryUrl).traceIds(prefix)))).flat();
  const texts = ids
    .slice(0, MOST_TRACES)
    .flatMap((id) => [
      textOf(`${telemetryUrl}/api/traces/${id}`, signal),
      textOf(`${telemetryUrl}/api/logs?traceId=${id}`, signal),
    ]);
  return (await Promise.all(texts)).join('\n');
}

const PREFIXES = ['00', '55', 'aa', 'ff'];
const MOST_TRACES = 20;

async function commandLines({ instances }: PlatformState): Promise<string> {
  const pids = instances.flatMap(({ process }) => (process === undefined ? [] : [process.pid]));
  const lines = pids.map((pid) =>
    readFile(`/proc/${pid}/cmdline`, 'utf8').then(
      (text) => text.replaceAll('\0', ' '),
      () => '', // It has ended, or there is no /proc: its command line is nowhere to be seen then.
    ),
  );
  return (await Promise.all(lines)).join('\n');
}

async function textFiles(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const found = entries.map(async (entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return DATA_FOLDERS.has(entry.name) ? [] : textFiles(path);
    return entry.isFile() && TEXT_FILE.test(entry.name) ? [path] : [];
  });
  return (await Promise.all(found)).flat();
}
