import { connect } from 'node:net';
import type { Address } from './component.ts';

/** How long one exchange may take; the caller tries again. */
const EXCHANGE_TIMEOUT_MS = 2_000;

/**
 * Connects, sends `request` and resolves with the first bytes of the response. Rejects when refused, closed without a
 * response, too slow, or aborted.
 */
export function exchange({ host, port }: Address, request: Uint8Array, signal?: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const timeout = AbortSignal.timeout(EXCHANGE_TIMEOUT_MS);
    const socket = connect({ host, port, signal: signal ? AbortSignal.any([signal, timeout]) : timeout });
    const where = `${host}:${port}`;
    socket.once('connect', () => socket.write(request));
    socket.once('data', (bytes) => {
      resolve(bytes);
      socket.destroy();
    });
    socket.once('error', (cause) => {
      const why = timeout.aborted ? `no response in ${EXCHANGE_TIMEOUT_MS} ms` : cause.message;
      reject(new Error(`${where}: ${why}`, { cause }));
    });
    socket.once('close', () => reject(new Error(`${where}: closed the connection without a response`)));
  });
}
