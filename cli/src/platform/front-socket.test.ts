import { once } from 'node:events';
import { type AddressInfo, BoundSocket, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { CliError } from '../errors.ts';
import { createFrontSocket } from './front-socket.ts';

/** A port that is free now. */
function freePort(): number {
  using socket = new BoundSocket({ host: '127.0.0.1' });
  return socket.address().port;
}

it('gives every holder the same descriptor, until the last one has released it', () => {
  const socket = createFrontSocket('127.0.0.1', freePort());
  const [one, other] = [{}, {}];
  const descriptor = socket.hold(one);
  expect(socket.hold(other)).toBe(descriptor);
  socket.release(one);
  socket.release(one);
  expect(socket.hold(other)).toBe(descriptor);
  socket.release(other);
});

it('binds the port again after the last holder', () => {
  const socket = createFrontSocket('127.0.0.1', freePort());
  for (const holder of [{}, {}]) {
    expect(socket.hold(holder)).toBeGreaterThan(2);
    socket.release(holder);
  }
});

it('names a port on which another program listens', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const hold = () => createFrontSocket('127.0.0.1', port).hold({});
  expect(hold).toThrow(CliError);
  expect(hold).toThrow(expect.objectContaining({ code: 'port_taken', what: `port ${port} is taken` }));
  other.close();
});
