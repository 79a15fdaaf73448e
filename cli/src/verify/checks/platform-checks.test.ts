/**
 * Goal: the checks that look at processes, whole traces and the ledger fail on what they must not see.
 * Method: one server stands for all services; a store responds with the contract's own spans, one changed at a time;
 * the audit's report is given.
 */
import { mkdtemp, rm, utimes } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { offDefinition } from '@shop/kit/flag-file.ts';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { AuditReport } from '../../audit/audit.ts';
import { createStyle } from '../../output/style.ts';
import { flagFile, flagFolder } from '../../platform/flag-file.ts';
import { writeFlags } from '../../platform/flag-store.ts';
import { cloneRoot } from '../../platform/project.ts';
import { serviceNames } from '../../topology/services.ts';
import { type ContractParameters, expectedTree, loadContract } from '../../trace/contract.ts';
import { spansOf } from '../../trace/synthetic-trace.ts';
import { CheckFailed, EvidenceMissing } from '../check-errors.ts';
import type { VerifyContext } from '../context.ts';
import { health } from './health.ts';
import { ledger } from './ledger.ts';
import { confirmedTrace, declinedTrace, replayedTrace } from './traces.ts';

const report = vi.hoisted(() => ({ now: {} as object }));
vi.mock('../../audit/audit.ts', () => ({ audit: async () => report.now }));

const signal = new AbortController().signal;
const style = createStyle({ enabled: false });

describe('health', () => {
  let server: Server;
  let port: number;
  let sick: string | undefined;
  beforeAll(async () => {
    server = createServer((request, response) => {
      response.statusCode = request.url === sick ? 503 : 200;
      response.end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });

  function run(names: readonly string[] = serviceNames, at = port) {
    const instances = names.map((service) => ({
      ...{ name: `${service}-1`, service, kind: 'service', status: 'ready', ports: { main: at } },
    }));
    return health.run({
      connection: { control: { state: async () => ({ instances }) } },
      signal,
    } as unknown as VerifyContext);
  }

  it('is that of all six services', async () => {
    sick = undefined;
    expect(await run()).toContain('6 instances of 6 services');
    await expect(run(serviceNames.slice(1))).rejects.toThrow(`${serviceNames[0]} is not there`);
  });

  it.each(['live', 'ready'])('is a failure where an instance is not %s', async (kind) => {
    sick = `/health/${kind}`;
    await expect(run()).rejects.toThrow(`orders-1 is not ${kind} (503`);
  });

  it('is a failure where no instance responds', async () => {
    await expect(run(serviceNames, 1)).rejects.toThrow('orders-1 (ready) does not respond');
  });
});

describe('the trace of', () => {
  const checks = { confirmed: confirmedTrace, declined: declinedTrace, replayed: replayedTrace };

  type Spans = ReturnType<typeof spansOf>;
  const none = join(cloneRoot(), 'node_modules', 'no-such-folder');

  async function run(
    name: keyof typeof checks,
    change: (spans: Spans) => object[],
    { stateDir = none, parameters = {} }: { stateDir?: string; parameters?: ContractParameters } = {},
  ) {
    const whole = spansOf(expectedTree(await loadContract(name, cloneRoot()), parameters));
    const response = (status: string, reason: string | null, httpStatus: number) => ({
      response: async () => ({ kind: 'decided', id: 'o', status, reason, httpStatus, traceId: 't', tookMs: 1 }),
    });
    const now = Date.now();
    return checks[name].run({
      ...{ signal, style, project: { root: cloneRoot(), stateDir }, databases: { query: async () => [] } },
      confirmed: response('Confirmed', null, 201),
      declined: response('Cancelled', 'payment declined', 200),
      replayed: response('Confirmed', null, 201),
      telemetry: {
        trace: async () => ({ spans: change(whole), incomplete: undefined }),
        metrics: async () =>
          serviceNames.map((service) => ({
            ...{ name: 'shop.telemetry.spans', type: 'counter', service, instance: `${service}-1`, pid: 1, value: 1 },
            ...{ attributes: { state: 'none' }, time: now, receivedAt: now, startTime: 0, changedAt: 0, stale: false },
          })),
      },
    } as unknown as VerifyContext);
  }

  it.each(['confirmed', 'declined', 'replayed'] as const)(
    'a %s order has its shape: a span too many is a failure',
    async (name) => {
      const evidence = expect.stringContaining(`exactly as in contracts/traces/${name}.json`);
      expect(await run(name, (spans) => spans)).toMatchObject({ evidence });
      const twice = run(name, (spans) => [...spans, { ...spans.at(-1), spanId: 'f'.repeat(16) }]);
      await expect(twice).rejects.toThrow(CheckFailed);
    },
  );

  it('a confirmed order is that of one version: 31 spans, and of both where the flag is on: 39', async () => {
    const one = { spans: 31, events: ['order.confirmed'] };
    const both = { spans: 39, events: ['order.confirmed', 'order.confirmed.v2'] };
    expect(await run('confirmed', (spans) => spans)).toMatchObject({ contract: one });
    const stateDir = await mkdtemp(join(tmpdir(), 'shop-verify-'));
    await using _ = { [Symbol.asyncDispose]: () => rm(stateDir, { recursive: true }) };
    const file = flagFile(flagFolder({ stateDir }));
    await writeFlags(file, { flags: { 'publish-order-confirmed-v2': { ...offDefinition, defaultVariant: 'on' } } });
    const changedAt = new Date(0);
    await utimes(file, changedAt, changedAt);
    const ofOrder = (spans: Spans) =>
      spans.map((span) =>
        span.name === 'order saga'
          ? { ...span, startNanos: 60_000_000_000n, attributes: { 'shop.order.id': 'o' } }
          : span,
      );
    const seen = await run('confirmed', ofOrder, { stateDir, parameters: { orderConfirmedV2: 1 } });
    expect(seen).toMatchObject({ evidence: expect.stringContaining('order.confirmed v1 and v2'), contract: both });
    await expect(run('confirmed', ofOrder, { stateDir })).rejects.toMatchObject({
      name: 'CheckFailed',
      contract: both,
    });
  }, 30_000);

  it('a confirmed order whose span is another service’s is a failure', async () => {
    const other = run('confirmed', (spans) =>
      spans.map((span, at) => (at === 30 ? { ...span, service: 'stock' } : span)),
    );
    await expect(other).rejects.toThrow(CheckFailed);
  });
});

describe('the ledger', () => {
  const context = {
    ...{ signal, style, marker: 'm', audited: {} },
    confirmed: { response: async () => undefined },
    declined: { response: async () => undefined },
    databases: { query: async () => [] },
  } as unknown as VerifyContext;
  const invariant = (verdict: string) => ({
    ...{ id: 'I4', title: 'money', verdict, evidence: 'looked at', violations: [], inFlight: 0 },
  });
  const audited = (verdict: AuditReport['verdict']) =>
    ({
      verdict,
      orders: 3,
      invariants: [invariant(verdict)],
      settled: true,
      waitingFor: '',
      tookMs: 1,
      seededBugs: [],
    }) as object;

  it('balances', async () => {
    report.now = audited('pass');
    expect(await ledger.run(context)).toContain('1 invariants hold over 3 orders');
  });

  it('that does not is a failure that names the invariant', async () => {
    report.now = audited('fail');
    await expect(ledger.run(context)).rejects.toThrow('violated: I4 (money)');
  });

  it('that is not known is unknown, and so is one with an order of this run in flight', async () => {
    report.now = audited('unknown');
    await expect(ledger.run(context)).rejects.toThrow(EvidenceMissing);
    report.now = audited('pass');
    const open = {
      ...context,
      databases: { query: async () => [{ text: 'o is Started' }] },
    } as unknown as VerifyContext;
    await expect(ledger.run(open)).rejects.toThrow('o is Started');
  });
});
