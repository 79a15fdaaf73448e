/*
 * Goal: every page reaches the webhook once, in its order, whatever the webhook does; its secrets reach no other server.
 * Method: a server that responds as the test says, and a pager with a journal in memory.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { pollFor } from '../shared/wait-until.ts';
import { createPager, type Pager } from './pager.ts';
import { emptyState } from './pager-state.ts';
import { memoryJournal } from './testing/memory-journal.ts';
import { startWebhook, type Webhook } from './webhook.ts';

type Body = { event_action: string; dedup_key: string; routing_key?: string; payload?: Record<string, unknown> };
type Reaction = number | 'hang' | 'reset' | { redirect: string };

const NOW_MS = Date.parse('2026-11-24T05:00:00.000Z');
const limits = { attemptMs: 30_000, firstBackoffMs: 1, maxBackoffMs: 2, attempts: 4 };
let server: Server;
let received: Body[];
/** For the next requests, one each; after them 202. */
let reactions: Reaction[];
let webhook: Webhook | undefined;
let pager: Pager;
let journal: ReturnType<typeof memoryJournal>;
let problems: string[];

beforeEach(async () => {
  received = [];
  reactions = [];
  problems = [];
  server = createServer(async (request, response) => {
    received.push(await bodyOf(request));
    const reaction = reactions.shift() ?? 202;
    if (reaction === 'reset') return void request.socket.destroy();
    if (reaction === 'hang') return;
    if (typeof reaction === 'object') return void response.writeHead(302, { location: reaction.redirect }).end();
    response.writeHead(reaction, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  journal = memoryJournal();
  pager = createPager({
    state: emptyState(),
    journal,
    now: () => NOW_MS,
    report: (problem) => problems.push(problem),
    delivers: true,
    isPipelineExpected: () => undefined,
  });
});
afterEach(async () => {
  await webhook?.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function bodyOf(request: IncomingMessage): Promise<Body> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return JSON.parse(text);
}

function start(attemptMs = limits.attemptMs): void {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-path`;
  webhook = startWebhook({
    settings: { url, routingKey: 'secret-key' },
    project: 'shop',
    pager,
    report: (problem) => problems.push(problem),
    limits: { ...limits, attemptMs },
  });
}

const page = (alertname: string, more: object = {}) => ({
  labels: { alertname, severity: 'page', service: 'orders' },
  annotations: { summary: 'the outbox stands still' },
  generatorUrl: 'http://127.0.0.1:9090/graph?g0.expr=1',
  startsAtMs: NOW_MS - 1_000,
  endsAtMs: NOW_MS + 60_000,
  ...more,
});
const settled = () =>
  pollFor(async () => (pager.deliveries().length === 0 ? true : undefined), { everyMs: 5, limitMs: 10_000 });
const actions = () => received.map(({ event_action }) => event_action);

it("has the shape of PagerDuty's Events API v2", async () => {
  start();
  await pager.receive([page('OutboxStalled')]);
  await pager.acknowledge([pager.alerts()[0]?.alert.fingerprint as string], 'anna');
  await pager.receive([page('OutboxStalled', { endsAtMs: NOW_MS })]);
  await settled();
  const [trigger, acknowledge, resolve] = received;
  const common = { routing_key: 'secret-key', dedup_key: expect.stringMatching(/^shopctl\/shop\/[0-9a-f]{16}$/) };
  expect(trigger).toEqual({
    ...common,
    event_action: 'trigger',
    client: 'shopctl',
    links: [{ href: 'http://127.0.0.1:9090/graph?g0.expr=1', text: 'Prometheus' }],
    payload: {
      summary: 'OutboxStalled: the outbox stands still',
      source: 'shopctl/shop',
      severity: 'critical',
      timestamp: '2026-11-24T04:59:59.000Z',
      component: 'orders',
      group: 'shop',
      class: 'OutboxStalled',
      custom_details: {
        labels: { alertname: 'OutboxStalled', severity: 'page', service: 'orders' },
        annotations: { summary: 'the outbox stands still' },
      },
    },
  });
  expect(acknowledge).toEqual({ ...common, event_action: 'acknowledge' });
  expect(resolve).toEqual({ ...common, event_action: 'resolve' });
  expect(new Set(received.map(({ dedup_key }) => dedup_key)).size).toBe(1);
});

it('is tried again after failures that may pass, in its order', async () => {
  reactions = [503, 'reset', 202, 429, 202];
  start();
  await pager.receive([page('OutboxStalled')]);
  await pager.receive([page('OutboxStalled', { endsAtMs: NOW_MS })]);
  await settled();
  expect(actions()).toEqual(['trigger', 'trigger', 'trigger', 'resolve', 'resolve']);
  expect(journal.events.filter(({ type }) => type === 'delivered')).toMatchObject([{ attempts: 3 }, { attempts: 2 }]);
});

it('is tried again where it does not respond in time', async () => {
  reactions = ['hang'];
  start(200);
  await pager.receive([page('OutboxStalled')]);
  await settled();
  expect(received.length).toBeGreaterThan(1);
  expect(new Set(actions())).toEqual(new Set(['trigger']));
});

it('is given up immediately where it is refused for good, and the next one is sent', async () => {
  reactions = [400];
  start();
  await pager.receive([page('OutboxStalled'), page('SagasStuck')]);
  await settled();
  expect(received).toHaveLength(2);
  expect(journal.events.filter(({ type }) => type === 'undelivered')).toMatchObject([
    { attempts: 1, why: 'status 400' },
  ]);
});

it('is given up after its attempts', async () => {
  reactions = [500, 500, 500, 500];
  start();
  await pager.receive([page('OutboxStalled')]);
  await settled();
  expect(received).toHaveLength(4);
  expect(journal.events.at(-1)).toMatchObject({ type: 'undelivered', attempts: 4, why: 'status 500' });
});

it('never follows a redirect, and never prints its path or its key', async () => {
  const elsewhere: string[] = [];
  const other = createServer((request, response) => {
    elsewhere.push(request.url ?? '');
    response.end();
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as AddressInfo;
  reactions = Array.from({ length: 4 }, () => ({ redirect: `http://127.0.0.1:${port}/stolen` }));
  start();
  await pager.receive([page('OutboxStalled')]);
  await settled();
  await new Promise((resolve) => other.close(resolve));
  expect(elsewhere).toEqual([]);
  expect(problems).toHaveLength(2);
  expect(JSON.stringify([problems, journal.events])).not.toMatch(/secret-(path|key)/);
});

it('does not keep the pager from anything while it does not respond', async () => {
  reactions = Array.from({ length: 20 }, () => 'hang' as const);
  start();
  await pager.receive([page('OutboxStalled')]);
  await pager.receive([page('SagasStuck')]);
  expect(pager.alerts()).toHaveLength(2);
  await webhook?.close();
  expect(pager.deliveries().map(({ action }) => action)).toEqual(['trigger', 'trigger']);
});
