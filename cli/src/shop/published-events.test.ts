/**
 * Goal: a trace is compared with the versions of the event that had to be published for its order, and with no others.
 * Method: a file of flags of a known age, an outbox, and the spans of a flawless order, of which one thing is changed.
 */
import { mkdtemp, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FlagDefinition, offDefinition } from '@shop/kit/flag-file.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { flagFile, flagFolder } from '../platform/flag-file.ts';
import { killed, withPercent, withValue } from '../platform/flag-state.ts';
import { writeFlags } from '../platform/flag-store.ts';
import { cloneRoot } from '../platform/project.ts';
import { writeSharedFile } from '../platform/shared-file.ts';
import { compareTrace } from '../trace/compare.ts';
import { countsOf, expectedTree, loadContract } from '../trace/contract.ts';
import { type MutableSpan, spansOf } from '../trace/synthetic-trace.ts';
import { buildTree } from '../trace/tree.ts';
import { describeEvents, orderContract } from './published-events.ts';

const contract = await loadContract('confirmed', cloneRoot());
const recovered = await loadContract('recovered', cloneRoot());
const ORDER = '0198b2c4-0000-7000-8000-000000000001';
const NOW = 1_800_000_000_000;
const V1 = ['order.confirmed'];
const BOTH = [...V1, 'order.confirmed.v2'];

let stateDir: string;
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'shop-published-'));
});
afterEach(() => rm(stateDir, { recursive: true }));

/** The flag is so since that many seconds before the saga began; negative: it changed afterwards. */
async function aFlag(flag: FlagDefinition, ageS = 60): Promise<void> {
  const file = flagFile(flagFolder({ stateDir }));
  await writeFlags(file, { flags: { 'publish-order-confirmed-v2': flag } });
  await setAge(file, ageS);
}

async function setAge(file: string, ageS: number): Promise<void> {
  const time = new Date(NOW - ageS * 1_000);
  await utimes(file, time, time);
}

const on = withValue(offDefinition, true);

/** An order's spans, with these versions of the event. */
function anOrder(times: number, { orderId = ORDER, of = contract } = {}): MutableSpan[] {
  return spansOf(expectedTree(of, { orderConfirmedV2: times })).map((span) => {
    if (!span.name.endsWith('order saga')) return span;
    return { ...span, startNanos: BigInt(NOW) * 1_000_000n, attributes: { 'shop.order.id': orderId } };
  });
}

function ask(spans: readonly MutableSpan[], outbox: readonly string[] | undefined = undefined, of = contract) {
  return orderContract({
    contract: of,
    backend: { trace: async () => ({ spans, incomplete: undefined }) },
    traceId: 't',
    project: { stateDir },
    timeoutMs: 0,
    async outboxTypes() {
      if (outbox === undefined) throw new Error('the flag says it');
      return outbox;
    },
  });
}

async function differences(spans: readonly MutableSpan[], outbox?: readonly string[]): Promise<string[]> {
  const { expected } = await ask(spans, outbox);
  return compareTrace(expected, buildTree(spans)).faults.map(({ message }) => message);
}

describe('the events of an order', () => {
  it('are version 1 alone where no flag was ever set: 31 spans', async () => {
    const { expected, events } = await ask(anOrder(0));
    expect(countsOf(expected)).toMatchObject({ spans: 31, sql: 16 });
    expect(events).toEqual({ types: V1, by: 'default' });
    expect(describeEvents({ types: V1, by: 'default' })).toBe('');
  });

  it('are both while the flag is on: 39 spans, eight of them for version 2', async () => {
    await aFlag(on);
    const { expected, events } = await ask(anOrder(1));
    expect(countsOf(expected)).toMatchObject({ spans: 39, sql: 21, services: { length: 6 }, databases: { length: 5 } });
    expect(events).toEqual({ types: BOTH, by: 'flag' });
    expect(describeEvents({ types: BOTH, by: 'flag' })).toContain('order.confirmed v1 and v2');
    expect(await differences(anOrder(1))).toEqual([]);
  });

  it.each([
    ['off', withValue(on, false)],
    ['killed', killed(on)],
    ['not in the file', undefined],
  ])('are version 1 alone while the flag is %s', async (_, flag) => {
    if (flag === undefined) {
      const file = flagFile(flagFolder({ stateDir }));
      await writeFlags(file, { flags: {} });
      await setAge(file, 60);
    } else await aFlag(flag);
    expect((await ask(anOrder(0))).events).toEqual({ types: V1, by: 'flag' });
  });

  it('follow the id of the order where it is on for a share of them', async () => {
    await aFlag(withPercent(offDefinition, 50));
    const ids = Array.from({ length: 40 }, (_, index) => `order-${index}`);
    const asked = await Promise.all(ids.map((orderId) => ask(anOrder(0, { orderId }))));
    const both = asked.filter(({ events }) => events?.types.length === 2).length;
    expect(both).toBeGreaterThan(8);
    expect(both).toBeLessThan(32);
    expect(new Set(asked.map(({ events }) => events?.by))).toEqual(new Set(['flag']));
  });

  it.each([
    ['just before', 1],
    ['after', -60],
  ])('are those of its outbox where the flag changed %s the order was placed', async (_, ageS) => {
    await aFlag(on, ageS);
    expect((await ask(anOrder(0), V1)).events).toEqual({ types: V1, by: 'outbox' });
    await aFlag(withValue(on, false), ageS);
    expect((await ask(anOrder(1), BOTH)).events).toEqual({ types: BOTH, by: 'outbox' });
  });

  it('are those of its outbox where the file cannot be read: services keep what they had', async () => {
    const file = flagFile(flagFolder({ stateDir }));
    await writeSharedFile(file, '{"half');
    await setAge(file, 60);
    expect((await ask(anOrder(1), BOTH)).events).toEqual({ types: BOTH, by: 'outbox' });
  });

  it('are those of a saga that was recovered', async () => {
    await aFlag(on);
    const { expected } = await ask(anOrder(1, { of: recovered }), undefined, recovered);
    expect(countsOf(expected).spans).toBe(40);
  });

  it('are as many as the caller says', async () => {
    await aFlag(on);
    const { expected, events } = await orderContract({
      contract,
      parameters: { orderConfirmedV2: 0 },
      backend: { trace: async () => ({ spans: [], incomplete: undefined }) },
      traceId: 't',
      project: { stateDir },
      timeoutMs: 0,
      outboxTypes: async () => BOTH,
    });
    expect([countsOf(expected).spans, events]).toEqual([31, undefined]);
  });
});

const V2_PUBLISH = 'publish order.confirmed.v2';
const V2_DELIVER = 'deliver order.confirmed.v2';

/** Without the span of this name and all below it. */
function without(spans: readonly MutableSpan[], name: string): MutableSpan[] {
  const gone = new Set(spans.filter((span) => span.name === name).map(({ spanId }) => spanId));
  return spans.filter(({ spanId, parentSpanId = '' }) => {
    if (gone.has(parentSpanId)) gone.add(spanId);
    return !gone.has(spanId);
  });
}

function altered(spans: readonly MutableSpan[], name: string, change: Partial<MutableSpan>): MutableSpan[] {
  return spans.map((span) => (span.name === name ? { ...span, ...change } : span));
}

describe('while the flag is on, a trace is not as its contract', () => {
  beforeEach(() => aFlag(on));

  it.each([
    ['without the event of version 2', anOrder(0)],
    ['whose version 2 was not published', without(anOrder(1), V2_PUBLISH)],
    ['whose version 2 no service took', without(anOrder(1), V2_DELIVER)],
    ['whose version 2 another service took', altered(anOrder(1), V2_DELIVER, { service: 'stock' })],
    ['whose version 2 was published twice', anOrder(2)],
    ['whose version 1 was not published', without(anOrder(1), 'publish order.confirmed')],
    [
      'whose version 2 was published in place of version 1',
      altered(anOrder(1), 'publish order.confirmed', { name: V2_PUBLISH }),
    ],
  ])('%s', async (_, spans) => {
    expect(await differences(spans)).not.toEqual([]);
  });
});

describe('while the flag is off, a trace is not as its contract', () => {
  it('with spans of version 2', async () => {
    await aFlag(withValue(on, false));
    const found = await differences(anOrder(1));
    expect(found).toHaveLength(8);
    expect(found).toContain(`orders "${V2_PUBLISH}" is not expected under orders "outbox relay"`);
  });

  it('with spans of version 2, where no flag was ever set', async () => {
    expect(await differences(anOrder(1))).toHaveLength(8);
  });

  it('with spans of version 2 that the outbox does not have, where the flag changed just then', async () => {
    await aFlag(on, 1);
    expect(await differences(anOrder(1), V1)).toHaveLength(8);
  });
});
