/**
 * Goal: the checks that look at processes, whole traces and the ledger fail on what they must not see.
 * Method: one server stands for all services; a store responds with the contract's own spans, one changed at a time;
 * the audit's report is given.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { AuditReport } from '../../audit/audit.ts';
import { createStyle } from '../../output/style.ts';
import { cloneRoot } from '../../platform/project.ts';
import { serviceNames } from '../../topology/services.ts';
import { expectedTree, loadContract } from '../../trace/contract.ts';
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

  async function run(name: keyof typeof checks, change: (spans: ReturnType<typeof spansOf>) => object[]) {
    const whole = spansOf(expectedTree(await loadContract(name, cloneRoot())));
    const response = (status: string, reason: string | null, httpStatus: number) => ({
      response: async () => ({ kind: 'decided', id: 'o', status, reason, httpStatus, traceId: 't', tookMs: 1 }),
    });
    const now = Date.now();
    return checks[name].run({
      ...{ signal, style, project: { root: cloneRoot() } },
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
      expect(await run(name, (spans) => spans)).toContain(`exactly as in contracts/traces/${name}.json`);
      const twice = run(name, (spans) => [...spans, { ...spans.at(-1), spanId: 'f'.repeat(16) }]);
      await expect(twice).rejects.toThrow(CheckFailed);
    },
  );

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
