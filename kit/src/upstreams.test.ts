import { describe, expect, it } from 'vitest';
import { parseUpstreams, UPSTREAMS_VERSION, upstreamAt } from './upstreams.ts';

const stable = { address: '127.0.0.1:4001', weight: 100, track: 'stable', state: 'active' };
const fileOf = (edges: unknown, version: unknown = UPSTREAMS_VERSION) => JSON.stringify({ version, edges });

describe('a file of upstreams', () => {
  it('says for each edge where its caller connects, and with which share', () => {
    const canary = { ...stable, address: 'orders.shop:4002', instance: 'orders-2', weight: 1, track: 'canary' };
    const leaving = { ...stable, address: '127.0.0.1:4003', weight: 0, state: 'draining' };
    const edges = { 'gateway-orders': [stable, canary, leaving], 'orders-db': [stable] };
    expect(parseUpstreams(fileOf(edges))).toEqual({ version: 1, edges });
  });

  it('needs an address only: the rest has defaults', () => {
    const { edges } = parseUpstreams(fileOf({ 'orders-db': [{ address: '127.0.0.1:4001' }] }));
    expect(edges['orders-db']).toEqual([stable]);
    expect(upstreamAt('127.0.0.1:4001')).toEqual(stable);
  });

  it('may name edges, and have fields, that this service does not know', () => {
    const text = fileOf({ 'orders-tomorrow': [{ ...stable, zone: 'a' }] });
    expect(parseUpstreams(text).edges['orders-tomorrow']).toMatchObject([stable]);
  });

  it.each([
    ['{', 'the file is not JSON'],
    ['[]', 'the file must be object'],
    ['null', 'the file must be object'],
    ['{"version":1}', 'the file must have required properties edges'],
    [fileOf({}, 2), '/version must be equal to constant'],
    [fileOf([]), '/edges must be object'],
    [fileOf({ 'orders-payments': [] }), '/edges/orders-payments must not have fewer than 1 items'],
    [fileOf({ 'orders-payments': [{}] }), '/edges/orders-payments/0 must have required properties address'],
    [fileOf({ 'orders-payments': [{ ...stable, weight: 1_001 }] }), '/edges/orders-payments/0/weight must be <= 1000'],
    [fileOf({ 'orders-payments': [{ ...stable, weight: -1 }] }), '/edges/orders-payments/0/weight must be >= 0'],
    [fileOf({ 'orders-payments': [{ ...stable, weight: 0.5 }] }), '/edges/orders-payments/0/weight must be integer'],
    [fileOf({ 'orders-payments': [{ ...stable, weight: '1' }] }), '/edges/orders-payments/0/weight must be integer'],
    [fileOf({ 'orders-payments': [{ ...stable, state: 'gone' }] }), '/edges/orders-payments/0/state must be equal'],
    [fileOf({ 'orders-payments': [{ ...stable, track: 'red' }] }), '/edges/orders-payments/0/track must be equal'],
    [fileOf({ 'orders-payments': [{ address: '4001' }] }), '/edges/orders-payments/0/address must match pattern'],
    [
      fileOf({ 'orders-payments': [{ address: 'a:0' }] }),
      '/edges/orders-payments must have addresses with a host and a port',
    ],
    [
      fileOf({ 'orders-payments': [{ address: 'a:70000' }] }),
      '/edges/orders-payments must have addresses with a host and a port',
    ],
    [fileOf({ 'orders-payments': [{ address: '1.2.3.999:1' }] }), '/edges/orders-payments must have addresses with'],
    [fileOf({ 'orders-payments': [stable, stable] }), '/edges/orders-payments must not have an address twice'],
    [fileOf({ 'orders-db': [stable, { address: 'a:1' }] }), '/edges/orders-db must have one address'],
    [fileOf({ 'orders-broker': [stable, { address: 'a:1' }] }), '/edges/orders-broker must have one address'],
  ])('is refused when it is %s', (text, why) => {
    expect(() => parseUpstreams(text)).toThrow(new RegExp(`^${why}`));
  });

  it('is refused without its text: a URL with a password may stand there', () => {
    const secret = 'postgres://orders:secret@127.0.0.1:5501/orders';
    for (const text of [secret, fileOf({ 'orders-db': [{ address: secret }] })]) {
      expect(() => parseUpstreams(text)).toThrow(
        expect.objectContaining({ message: expect.not.stringContaining('secret') }),
      );
    }
  });
});
