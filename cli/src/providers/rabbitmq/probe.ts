import type { Address } from '../component.ts';
import { exchange } from '../tcp-exchange.ts';

const AMQP_0_9_1_HEADER = Buffer.from('AMQP\0\0\x09\x01', 'latin1');

/** Ready when the broker greets (connection.start) after the protocol header; its port opens last in its boot. */
export function amqpProbe(address: Address): (signal: AbortSignal) => Promise<void> {
  return async (signal) => {
    const response = await exchange(address, AMQP_0_9_1_HEADER, signal);
    // A broker that speaks another version responds with its own header instead of a method frame (type 1).
    if (response[0] !== 1) throw new Error(`${address.host}:${address.port}: does not speak AMQP 0-9-1`);
  };
}
