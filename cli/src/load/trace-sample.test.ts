import { describe, expect, it } from 'vitest';
import type { MetricPoint } from '../otlp/metric-store.ts';
import { cloneRoot, openProject } from '../platform/project.ts';
import { serviceNames } from '../topology/services.ts';
import { expectedTree, loadContract } from '../trace/contract.ts';
import { spansOf } from '../trace/synthetic-trace.ts';
import { aRecord, records } from './testing/records.ts';
import { TraceSampler } from './trace-sample.ts';

const root = cloneRoot();
const project = openProject('shop', root, {});
const outboxTypes = async () => [];
const confirmed = spansOf(expectedTree(await loadContract('confirmed', root)));
const whole = [{ name: 'whole', startS: 0, durationS: 10, rate: 10, vus: 5, demands: 'expected' }] as const;
const withFault = ['before', 'fault', 'recovery', 'after'].map((name) => ({ ...whole[0], name }));

/** Every service reports, and has lost nothing. */
const accounts = serviceNames.map(
  (service) =>
    ({
      ...{ name: 'shop.telemetry.spans', type: 'counter', service, instance: `${service}-1`, pid: 1, stale: false },
      ...{ attributes: { state: 'started' }, value: 1, time: Date.now(), receivedAt: Date.now(), startTime: 0 },
    }) as unknown as MetricPoint,
);

const uninterrupted = new AbortController().signal;

/** A store that has this trace for every id. */
function aSampler(changes: Partial<ConstructorParameters<typeof TraceSampler>[0]> = {}) {
  const asked: string[] = [];
  const telemetry = {
    async trace(traceId: string) {
      asked.push(traceId);
      return { spans: confirmed, incomplete: undefined };
    },
    metrics: async () => accounts,
    logs: async () => [],
  };
  const sampler = new TraceSampler({
    count: 3,
    durationMs: 9_000,
    phases: whole,
    project,
    outboxTypes,
    telemetry,
    ...changes,
  });
  return { sampler, asked };
}

describe('sampled traces', () => {
  it('are taken evenly over the load, and compared with the contract', async () => {
    const { sampler } = aSampler();
    for (const record of records(90, 9)) sampler.offer(record);
    const found = await sampler.results(uninterrupted);
    expect(found.map(({ orderId, verdict }) => `${orderId} ${verdict}`)).toEqual([
      'order-15 pass',
      'order-45 pass',
      'order-75 pass',
    ]);
  });

  it('are not those of orders that were slow, repeated, without a response, or of a kind without a contract', async () => {
    const { sampler } = aSampler({ count: 1, durationMs: 0 });
    sampler.offer(aRecord({ tookMs: 900 }));
    sampler.offer(aRecord({ isFirst: false }));
    sampler.offer(aRecord({ orderId: undefined, status: undefined }));
    sampler.offer(aRecord({ status: 'Cancelled', reason: 'out of stock' }));
    expect(await sampler.results(uninterrupted)).toEqual([]);
  });

  it('that came too late are made up for by the newest that were passed over, as many as are missing', async () => {
    const { sampler } = aSampler();
    // Orders of the last third are all too slow.
    for (const record of records(90, 9)) sampler.offer({ ...record, tookMs: record.index < 60 ? 50 : 900 });
    sampler.fillUp();
    expect((await sampler.results(uninterrupted)).map(({ orderId }) => orderId)).toEqual([
      'order-15',
      'order-45',
      'order-59',
    ]);
  });

  it('are no more than were asked for', async () => {
    const { sampler } = aSampler();
    for (const record of records(90, 9)) sampler.offer(record);
    sampler.fillUp();
    expect(await sampler.results(uninterrupted)).toHaveLength(3);
  });

  it('are none of a fault or the time after it', async () => {
    const { sampler } = aSampler({ count: 4, durationMs: 0, phases: withFault });
    for (const { name } of withFault) sampler.offer(aRecord({ phase: name }));
    expect((await sampler.results(uninterrupted)).map(({ phase }) => phase)).toEqual(['before', 'after']);
  });

  it('are those that the sagas are in, where requests are repeated', async () => {
    const { sampler, asked } = aSampler({ count: 1, durationMs: 0, traceOf: async (orderId) => `trace of ${orderId}` });
    sampler.offer(aRecord({ orderId: 'x' }));
    expect(await sampler.results(uninterrupted)).toMatchObject([{ traceId: 'trace of x', verdict: 'pass' }]);
    expect(new Set(asked)).toEqual(new Set(['trace of x']));
  });

  it('of another shape fail: a span too many is certain', async () => {
    const [first] = confirmed;
    const surplus = {
      ...(first as NonNullable<typeof first>),
      spanId: 'ffff',
      parentSpanId: first?.spanId,
      name: 'GET',
    };
    const telemetry = {
      trace: async () => ({ spans: [...confirmed, surplus], incomplete: undefined }),
      metrics: async () => accounts,
      logs: async () => [],
    };
    const { sampler } = aSampler({ count: 1, durationMs: 0, telemetry });
    sampler.offer(aRecord());
    expect(await sampler.results(uninterrupted)).toMatchObject([{ verdict: 'fail' }]);
  });

  it('that cannot be read are unknown', async () => {
    const refused = async () => Promise.reject(new Error('refused'));
    const telemetry = { trace: refused, metrics: refused, logs: refused };
    const { sampler } = aSampler({ count: 1, durationMs: 0, telemetry });
    sampler.offer(aRecord());
    expect(await sampler.results(uninterrupted)).toMatchObject([{ verdict: 'unknown', explanation: 'refused' }]);
  });

  it('are not waited for when the command is interrupted', async () => {
    const telemetry = {
      trace: async () => ({ spans: [], incomplete: undefined }),
      metrics: async () => accounts,
      logs: async () => [],
    };
    const { sampler } = aSampler({ count: 1, durationMs: 0, telemetry });
    sampler.offer(aRecord());
    const interrupted = new AbortController();
    const results = sampler.results(interrupted.signal);
    const began = performance.now();
    interrupted.abort();
    await expect(results).rejects.toMatchObject({ name: 'AbortError' });
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});
