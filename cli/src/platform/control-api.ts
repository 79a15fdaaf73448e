import { chmod, unlink } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { dirname } from 'node:path';
import { CliError, toCliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { unless } from '../shared/unless.ts';
import type { Asked } from './change-log.ts';
import type { UpProgress, UpRequest } from './control-client.ts';
import type { EventLog } from './events.ts';
import type { OperationOptions, OperationRequest, OperationResult } from './operations.ts';
import type { UpResult } from './platform.ts';
import { makePrivateFolder } from './private-folder.ts';
import type { PlatformState } from './state.ts';

/** What the API can do; the supervisor provides it. */
export interface ControlHandlers {
  state(): Promise<PlatformState>;
  readonly events: EventLog;
  /** `gone` aborts when the client disconnected before the response was complete. */
  up(request: UpRequest, gone: AbortSignal): Promise<UpResult>;
  down(timeoutMs: number | undefined, asked?: Asked): Promise<void>;
  act(service: string, action: 'start' | 'stop' | 'restart', asked?: Asked): Promise<void>;
  operate(request: OperationRequest, options: OperationOptions): Promise<OperationResult>;
  /** Asked for routes of none of these; false when it has no such route either. */
  handleOther?(route: string, request: IncomingMessage, response: ServerResponse): Promise<boolean>;
}

/**
 * Serves the control API (HTTP) on a Unix socket that only this user can open. Its routes:
 * `GET /v1/ping`, `GET /v1/state`, `GET /v1/events[?follow]` (NDJSON), `POST /v1/up` (NDJSON, the connection is a lease until ready),
 * `POST /v1/down`, `POST /v1/services/{name}/{start|stop|restart}`, `POST /v1/operations`. The last four take `asked`: who
 * asks, and why, for the change log. Errors are `{error: {code, what, why, next, exitCode}}`.
 */
export async function startControlApi(socketPath: string, handlers: ControlHandlers): Promise<Server> {
  await makePrivateFolder(dirname(socketPath));
  // The caller holds the project's lock, so a socket that is still there belongs to no process.
  await unlink(socketPath).catch(unless('ENOENT'));
  const server = createServer((request, response) => {
    handle(request, response, handlers).catch((error: unknown) => sendError(response, error));
  });
  // `up` and `events?follow` stay open for as long as they take.
  server.requestTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath, resolve);
  });
  await chmod(socketPath, 0o600);
  return server;
}

async function handle(request: IncomingMessage, response: ServerResponse, handlers: ControlHandlers): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://control');
  const route = `${request.method} ${url.pathname}`;
  const action = /^POST \/v1\/services\/([^/]+)\/(start|stop|restart)$/.exec(route);
  if (route === 'GET /v1/ping') sendJson(response, {});
  else if (route === 'GET /v1/state') sendJson(response, await handlers.state());
  else if (route === 'GET /v1/events') streamEvents(response, handlers.events, url.searchParams.has('follow'));
  else if (route === 'POST /v1/up') await streamUp(response, handlers, await readJson<UpRequest>(request));
  else if (route === 'POST /v1/down') {
    const { timeoutMs, asked } = await readJson<{ timeoutMs?: number; asked?: Asked }>(request);
    await handlers.down(timeoutMs, asked);
    sendJson(response, {});
  } else if (action) {
    const { asked } = await readJson<{ asked?: Asked }>(request);
    await handlers.act(decodeURIComponent(action[1] as string), action[2] as 'start' | 'stop' | 'restart', asked);
    sendJson(response, await handlers.state());
  } else if (route === 'POST /v1/operations') {
    const { operation, ...options } = await readJson<OperationOptions & { operation: OperationRequest }>(request);
    sendJson(response, await handlers.operate(operation, options));
  } else if (!(await handlers.handleOther?.(route, request, response))) {
    sendError(response, new CliError({ code: 'unknown_route', what: `the supervisor knows no ${route}` }));
  }
}

function streamEvents(response: ServerResponse, events: EventLog, isFollowed: boolean): void {
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  const write = (event: unknown) => void response.write(`${JSON.stringify(event)}\n`);
  events.recent().forEach(write);
  if (!isFollowed) return void response.end();
  const unfollow = events.follow(write);
  response.once('close', unfollow);
}

async function streamUp(response: ServerResponse, handlers: ControlHandlers, request: UpRequest): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableEnded) gone.abort(new Error('the command that asked for it disconnected'));
  });
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  const write = (progress: UpProgress) => void response.write(`${JSON.stringify(progress)}\n`);
  const unfollow = handlers.events.follow((event) => write({ type: 'event', event }));
  try {
    const result = await handlers.up(request, gone.signal);
    write({ type: 'done', state: await handlers.state(), ...result });
  } catch (error) {
    write({ type: 'failed', error: toCliError(error).toJSON() });
  } finally {
    unfollow();
    response.end();
  }
}

/** The body of a request; an empty one is an empty object. */
export async function readJson<T>(request: IncomingMessage): Promise<T> {
  request.setEncoding('utf8');
  let text = '';
  for await (const chunk of request) text += chunk;
  return (text === '' ? {} : JSON.parse(text)) as T;
}

/** Ends a response with 200 and a JSON body. */
export function sendJson(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function sendError(response: ServerResponse, error: unknown): void {
  const explained = toCliError(error);
  if (response.headersSent) return void response.destroy();
  response.writeHead(explained.exitCode === exitCodes.usage ? 400 : 500, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: explained }));
}
