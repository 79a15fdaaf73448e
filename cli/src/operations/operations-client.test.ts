import { mkdtemp, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CliError } from '../errors.ts';
import { type ControlHandlers, readJson, sendJson, startControlApi } from '../platform/control-api.ts';
import { openProject, type Project } from '../platform/project.ts';
import { operate } from './operations-client.ts';

/* Goal: a command gets the result, the error or the silence of a supervisor as its user can act on it. */

let home: string;
let project: Project;
let server: Server;
let other: NonNullable<ControlHandlers['handleOther']>;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'shop-ops-'));
  project = openProject('shop', '/clone', { SHOPCTL_HOME: home });
  const handlers: Partial<ControlHandlers> = {
    state: async () => ({}) as never,
    handleOther: (...asked) => other(...asked),
  };
  server = await startControlApi(project.socketPath, handlers as ControlHandlers);
});
afterEach(async () => {
  server.close();
  server.closeAllConnections();
  await rm(home, { recursive: true });
});

it('the body of an operation reaches its route, and its result comes back', async () => {
  other = async (route, request, response) => {
    sendJson(response, { route, asked: await readJson(request) });
    return true;
  };
  expect(await operate(project, 'db-sessions', { databases: ['orders'] })).toEqual({
    route: 'POST /v1/operations/db-sessions',
    asked: { databases: ['orders'] },
  });
});

it('an error of the supervisor keeps its code', async () => {
  other = () => Promise.reject(new CliError({ code: 'session_changed', what: '7 is another session now' }));
  await expect(operate(project, 'broker-alarms', undefined)).rejects.toMatchObject({ code: 'session_changed' });
});

it('a supervisor of an older version has no such route', async () => {
  other = async () => false;
  await expect(operate(project, 'broker-alarms', undefined)).rejects.toMatchObject({ code: 'unknown_route' });
});

it('an operation that takes too long ends the command, which says that it may go on', async () => {
  other = () => new Promise(() => undefined);
  await expect(operate(project, 'broker-alarms', undefined, 50)).rejects.toMatchObject({
    code: 'no_response_in_time',
    why: expect.stringContaining('may still be at work'),
  });
});
