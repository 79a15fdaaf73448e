import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../errors.ts';
import { callJson, createControlClient } from '../../platform/control-client.ts';
import { currentRoundFile } from '../../platform/current-round.ts';
import type { PlatformEvent } from '../../platform/events.ts';
import type { Project } from '../../platform/project.ts';
import type { PlatformState } from '../../platform/state.ts';
import { createBackend } from '../../trace/backend.ts';
import type { Scenario } from '../format/schema.ts';
import type { Operator } from '../play/operator.ts';
import { DRILL_STARTED } from '../rounds.ts';
import type { SurfaceText } from './find-leaks.ts';

/** Commands with which a trainee looks at a platform. None of them changes it. */
const COMMANDS: readonly string[] = [
  'status',
  'changes --since 30m',
  'alerts ls',
  'counters --once',
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

const METRICS = 'GET /metrics';
const TRACES = 'GET /api/traces';
/** What the receiver of telemetry serves. */
const OF_TELEMETRY = new Set<string>([METRICS, TRACES]);

const HTTP_LIMIT_MS = 10_000;
/** Files of servers, which are not text, and what a validation keeps. */
const OTHER_FOLDERS = new Set(['postgres', 'rabbitmq', 'prometheus', 'drill-trials']);
const TEXT_FILE = /\.(json|jsonl|log|txt|yaml|conf)(\.1)?$|^current$/;

export interface Surfaces {
  /** Id of the round that is on. */
  readonly round: string;
  readonly project: Project;
  readonly operator: Operator;
  readonly signal: AbortSignal;
}

/**
 * What a trainee can see of a round that is on, by surface. One that cannot be read, or not before the round is over, has the reason in place
 * of its text.
 */
export async function readSurfaces({ round, project, operator, signal }: Surfaces): Promise<readonly SurfaceText[]> {
  const isOn = () => existsSync(currentRoundFile(project));
  const read = async (surface: string, work: () => Promise<string>): Promise<SurfaceText> => {
    signal.throwIfAborted();
    const text = await work().catch((error: unknown) => `${UNREAD}${messageOf(error)}`);
    return { surface, text: isOn() ? text : `${UNREAD}the round was over` };
  };
  const files = await textFiles(project.stateDir, { round });
  const texts = [
    ...(await Promise.all(
      files.map((file) => read(`file ${file}`, () => readFile(join(project.stateDir, file), 'utf8'))),
    )),
    ...(await Promise.all(ROUTES.map((path) => read(`GET ${path}`, () => routeText(project, path))))),
  ];
  const state = await createControlClient(project).state();
  texts.push(
    await read('GET /v1/events', () => eventsOf(project, round)),
    await read(METRICS, () => textOf(`${state.telemetryUrl}/metrics`, signal)),
    await read(TRACES, () => tracesOf(state.telemetryUrl, signal)),
    await read('command lines of processes', () => commandLines(state)),
  );
  const waiting = [...COMMANDS];
  const work = async () => {
    for (let command = waiting.shift(); command !== undefined; command = waiting.shift()) {
      texts.push(await read(`shopctl ${command}`, commandText(command, operator)));
    }
  };
  await Promise.all(Array.from({ length: COMMANDS_AT_A_TIME }, work));
  return texts;
}

const UNREAD = 'not read: ';
const COMMANDS_AT_A_TIME = 3;

const commandText = (command: string, operator: Operator) => async () => {
  const { stdout, complaint = '' } = await operator.run(command.split(' '));
  // A refusal is read as well.
  return `${stdout}\n${complaint}`;
};

async function routeText(project: Project, path: string): Promise<string> {
  const request = { project, method: 'GET', path, signal: AbortSignal.timeout(HTTP_LIMIT_MS) };
  return JSON.stringify(await callJson(request));
}

/**
 * Those that could not be read prove nothing. Where a scenario disconnects the readers of telemetry, that is so for trainees as well:
 * these say nothing, and are left out. Pure.
 */
export function unread(texts: readonly SurfaceText[], { inject }: Pick<Scenario, 'inject'>): readonly string[] {
  const isTelemetryOut = inject.some((one) => one.type === 'fault' && one.fault === 'telemetry-outage');
  return texts
    .filter(({ surface, text }) => text.startsWith(UNREAD) && !(isTelemetryOut && OF_TELEMETRY.has(surface)))
    .map(({ surface, text }) => `${surface}: ${text}`);
}

const responseOf = (url: string, signal: AbortSignal): Promise<Response> =>
  fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(HTTP_LIMIT_MS)]) });

const textOf = async (url: string, signal: AbortSignal): Promise<string> => bodyOf(await responseOf(url, signal));

async function bodyOf(response: Response): Promise<string> {
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  return response.text();
}

async function eventsOf(project: Project, round: string): Promise<string> {
  const events: PlatformEvent[] = [];
  for await (const event of createControlClient(project).events({ follow: false })) events.push(event);
  return sinceStartOf(round, events)
    .map((event) => JSON.stringify(event))
    .join('\n');
}

/** Those of a round: why an earlier one was void may name what was to be injected. All where its start has been dropped. Pure. */
export function sinceStartOf(
  round: string,
  events: readonly Pick<PlatformEvent, 'type' | 'message'>[],
): readonly Pick<PlatformEvent, 'type' | 'message'>[] {
  const started = events.findLastIndex(({ type, message }) => type === DRILL_STARTED && message.includes(round));
  return events.slice(Math.max(0, started));
}

/**
 * Some of the traces that are stored, with the log records of each. Of one that is gone since it was listed there are its log records alone: no
 * trainee can read it either. Under a high load the store lets go of many in a second. Rejects where all are gone, or one cannot be read.
 */
export async function tracesOf(telemetryUrl: string, signal: AbortSignal): Promise<string> {
  const ids = (await Promise.all(PREFIXES.map((prefix) => createBackend(telemetryUrl).traceIds(prefix)))).flat();
  const read = ids.slice(0, MOST_TRACES).map(async (id) => {
    const response = await responseOf(`${telemetryUrl}/api/traces/${id}`, signal);
    const spans = response.status === 404 ? undefined : await bodyOf(response);
    return { spans, logs: await textOf(`${telemetryUrl}/api/logs?traceId=${id}`, signal) };
  });
  const traces = await Promise.all(read);
  if (traces.length > 0 && traces.every(({ spans }) => spans === undefined))
    throw new Error(`all of ${traces.length} traces are gone since they were listed`);
  return traces.flatMap(({ spans, logs }) => (spans === undefined ? [logs] : [spans, logs])).join('\n');
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

/** Paths relative to the folder. Earlier rounds were revealed, and trials are not a trainee's. */
async function textFiles(folder: string, { round, below = '' }: { round: string; below?: string }): Promise<string[]> {
  const entries = await readdir(join(folder, below), { withFileTypes: true });
  const found = entries.map(async (entry) => {
    const { name } = entry;
    const path = join(below, name);
    if (!entry.isDirectory()) return entry.isFile() && TEXT_FILE.test(name) ? [path] : [];
    const isRead = below === 'drills' ? name === round : !OTHER_FOLDERS.has(name);
    return isRead ? textFiles(folder, { round, below: path }) : [];
  });
  return (await Promise.all(found)).flat();
}
