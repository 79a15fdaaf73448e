import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { createInterface } from 'node:readline';
import type { SeededBugName } from '@shop/kit/seeded-bug-names.ts';
import type { InstrumentationKind } from '@shop/kit/telemetry/instrumentation.ts';
import { CliError, type ErrorBody, receivedError } from '../errors.ts';
import { lockHolder } from '../process/project-lock.ts';
import type { Asked } from './change-log.ts';
import type { PlatformEvent } from './events.ts';
import type { OperationOptions, OperationRequest, OperationResult } from './operations.ts';
import type { InspectPorts } from './plan.ts';
import { requireOwnSocket } from './private-folder.ts';
import type { Project } from './project.ts';
import type { RuntimeKind } from './service-runtime.ts';
import type { Settings } from './settings.ts';
import type { PlatformState } from './state.ts';

/** What `up` asks for. */
export interface UpRequest {
  /** Only these services and what they depend on; empty means all. */
  readonly services: readonly string[];
  readonly replicas: Readonly<Record<string, number>>;
  /** Without proxies; absent: as before, with proxies at first. */
  readonly direct?: boolean;
  /** What services run as; absent: as before, as processes at first. */
  readonly runtime?: RuntimeKind;
  /** Who makes the spans of servers and clients; absent: as before, the services at first. */
  readonly instrumentation?: InstrumentationKind;
  /** With Prometheus, or without it again; absent: as before, without it at first. */
  readonly alerts?: boolean;
  /** Component to provider kind. */
  readonly providers: Readonly<Record<string, string>>;
  /** Where the gateway listens; 0: at any free port; absent: as before, 8080 or the next free one at first. */
  readonly port?: number;
  /** The asker's settings for services and platform; absent: as before. */
  readonly settings?: Settings;
  /** Contract migrations may give up the way back to releases that are kept; absent: they are refused. */
  readonly pointOfNoReturn?: boolean;
  /** Known bugs to put back into services; absent means none, also where there were some. */
  readonly seededBugs?: readonly SeededBugName[];
  /** Services that wait for a debugger; absent means none, also where there were some. */
  readonly inspect?: InspectPorts;
  /** Readiness limit in ms. */
  readonly waitTimeoutMs: number;
  /** For the change log. */
  readonly asked?: Asked;
}

/** One line of the response to `up`: what happens, and at last `done` or `failed`. */
export type UpProgress =
  | { readonly type: 'event'; readonly event: PlatformEvent }
  | {
      readonly type: 'done';
      readonly state: PlatformState;
      readonly started: readonly string[];
      /** What changed in components that went on running: `migration orders/0007_refunds`. */
      readonly applied: readonly string[];
      readonly tookMs: number;
    }
  | { readonly type: 'failed'; readonly error: ErrorBody };

/** What can be asked of the supervisor. Every call throws CliError: exit code 4 when no supervisor listens. */
export interface ControlClient {
  state(): Promise<PlatformState>;
  /** Events so far, then new ones as they come while `follow` is set. */
  events(options: { follow: boolean; signal?: AbortSignal }): AsyncIterable<PlatformEvent>;
  /** Aborting the signal, or ending this process, before `done` stops again what this call started. */
  up(body: UpRequest, signal?: AbortSignal): AsyncIterable<UpProgress>;
  /** Resolves when everything has stopped. */
  down(options: { timeoutMs?: number; asked?: Asked }): Promise<void>;
  service(name: string, action: 'start' | 'stop' | 'restart', asked: Asked): Promise<PlatformState>;
  /** Resolves when it is done; with `dryRun`, with what would be done. */
  operate(operation: OperationRequest, options: OperationOptions): Promise<OperationResult>;
}

/** Where a supervisor listens, and what it holds. */
export type Supervised = Pick<Project, 'socketPath' | 'lockFile'>;

/** A client for the control API behind a Unix socket; connects on each call. */
export function createControlClient(project: Supervised, responseLimitMs = RESPONSE_LIMIT_MS): ControlClient {
  const state = () => readState(project, responseLimitMs);
  // The others may take as long as a start takes, so whether anybody is there at all is asked first.
  const call = async <T>(method: string, path: string, body?: unknown) => {
    await state();
    return callJson<T>({ project, method, path, body });
  };
  async function* streamed<T>(options: Omit<Call, 'project'>): AsyncGenerator<T> {
    await state();
    yield* stream<T>({ project, ...options });
  }
  return {
    state,
    events: ({ follow, signal }) => streamed({ method: 'GET', path: `/v1/events${follow ? '?follow=1' : ''}`, signal }),
    up: (body, signal) => streamed({ method: 'POST', path: '/v1/up', body, signal }),
    down: async (options) => void (await call('POST', '/v1/down', options)),
    service: (name, action, asked) => call('POST', `/v1/services/${encodeURIComponent(name)}/${action}`, { asked }),
    operate: (operation, options) => call('POST', '/v1/operations', { operation, ...options }),
  };
}

/** A supervisor responds within milliseconds; one that does not for so long is stopped or stuck, ms. */
const RESPONSE_LIMIT_MS = 8_000;

/** The supervisor's socket takes connections, but it does not respond: it is stopped (SIGSTOP) or stuck. */
export class UnresponsiveSupervisorError extends CliError {
  constructor(limitMs: number, cause: unknown) {
    super({
      code: 'supervisor_unresponsive',
      what: 'the supervisor does not respond',
      why: `no response in ${limitMs / 1000} s: its process is stopped or stuck`,
      next: 'end it, and all that it runs, with "shopctl down"; then start again with "shopctl up"',
      cause,
    });
  }
}

/** The supervisor ended, or was killed, before it had responded. */
class LostSupervisorError extends CliError {
  constructor(cause: Error) {
    super({
      code: 'supervisor_lost',
      what: 'lost the connection to the supervisor',
      why: cause.message,
      next: 'see what it was doing with "shopctl status", or its log .shop/<project>/logs/supervisor.log',
      cause,
    });
  }
}

async function readState(project: Supervised, limitMs: number): Promise<PlatformState> {
  const limit = AbortSignal.timeout(limitMs);
  try {
    return await callJson<PlatformState>({ project, method: 'GET', path: '/v1/state', signal: limit });
  } catch (error) {
    throw limit.aborted ? new UnresponsiveSupervisorError(limitMs, error) : error;
  }
}

/** One request to the control API. */
interface Call {
  readonly project: Supervised;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

/** Sends one request and resolves with the JSON of its response. Throws CliError like every call of ControlClient. */
export async function callJson<T>(options: Call): Promise<T> {
  const response = await send(options);
  return JSON.parse(await readText(response)) as T;
}

/** The same for a response of NDJSON, line by line; leaving the loop, or aborting, closes the connection. */
export async function* stream<T>(options: Call): AsyncGenerator<T> {
  const response = await send(options);
  try {
    for await (const line of createInterface({ input: response })) if (line !== '') yield JSON.parse(line) as T;
  } catch (error) {
    options.signal?.throwIfAborted();
    throw explain(error as Error);
  } finally {
    response.destroy();
  }
}

/** Sends one request and resolves with a successful response; any other status becomes the error it describes. */
async function send(options: Call): Promise<IncomingMessage> {
  await requireOwnSocket(options.project.socketPath);
  const response = await open(options).catch(async (error: unknown) => {
    throw error instanceof NotRunningError ? await whyNothingListens(options.project, error) : error;
  });
  if (response.statusCode === 200) return response;
  const { error } = JSON.parse(await readText(response)) as { error: ErrorBody };
  throw receivedError(error);
}

function open({ project: { socketPath }, method, path, body, signal }: Call): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    // A separate connection: a kept one may lead to an earlier supervisor, which had the same path and is gone.
    const options = { socketPath, method, path, agent: false, ...(signal && { signal }) };
    const outgoing: ClientRequest = request(options, resolve);
    outgoing.on('error', (error: NodeJS.ErrnoException) => reject(explain(error)));
    outgoing.setHeader('content-type', 'application/json');
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

function explain(error: NodeJS.ErrnoException): Error {
  if (error.name === 'AbortError') return error;
  if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') return notRunning(error);
  return new LostSupervisorError(error);
}

/** No supervisor listens on the project's control socket. */
class NotRunningError extends CliError {}

/** A supervisor holds the project, but does not listen on its socket. */
class UnreachableSupervisorError extends NotRunningError {
  constructor(pid: number, { socketPath }: Supervised, cause: unknown) {
    super({
      code: 'supervisor_unresponsive',
      what: `the supervisor (process ${pid}) cannot be reached`,
      why: `it runs, but does not listen on ${socketPath}: it is starting or ending, or the socket was removed`,
      next: 'try again in a moment; "shopctl down" ends it, and all that it runs, without the socket',
      cause,
    });
  }
}

async function whyNothingListens(project: Supervised, error: NotRunningError): Promise<NotRunningError> {
  const holder = await lockHolder(project.lockFile);
  return holder ? new UnreachableSupervisorError(holder.pid, project, error) : error;
}

/** The error of every command that needs a running platform. */
export function notRunning(cause?: unknown): NotRunningError {
  return new NotRunningError({
    code: 'platform_not_running',
    what: 'platform not running',
    why: 'no supervisor runs for this project',
    next: 'start it with "shopctl up" (another copy is chosen with --project)',
    cause,
  });
}

/** True when a call failed because no supervisor listened: the request was never received. */
export function wasNeverHeard(error: unknown): boolean {
  return error instanceof NotRunningError;
}

/** True when a call failed because the supervisor is not there, or was just ending. */
export function isGone(error: unknown): boolean {
  return error instanceof NotRunningError || error instanceof LostSupervisorError;
}

async function readText(response: IncomingMessage): Promise<string> {
  response.setEncoding('utf8');
  let text = '';
  for await (const chunk of response) text += chunk;
  return text;
}
