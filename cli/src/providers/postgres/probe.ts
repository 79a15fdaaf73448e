import type { Address } from '../component.ts';
import { exchange } from '../tcp-exchange.ts';

/**
 * Ready when the response to a start-up packet is a question for the password ('R'); 'E' is "the database system is
 * starting up". Cheaper than a login, and it needs no driver. Source: PostgreSQL manual, "Message Formats".
 */
export function postgresProbe(address: Address): (signal: AbortSignal) => Promise<void> {
  return async (signal) => {
    const response = await exchange(address, startUpPacket('postgres'), signal);
    const kind = String.fromCharCode(response[0] ?? 0);
    if (kind === 'R') return;
    throw new Error(
      `PostgreSQL at ${address.host}:${address.port}: ${kind === 'E' ? errorText(response) : `responded "${kind}"`}`,
    );
  };
}

function startUpPacket(user: string): Buffer {
  const parameters = Buffer.from(`user\0${user}\0database\0postgres\0\0`);
  const head = Buffer.alloc(8);
  head.writeInt32BE(head.length + parameters.length, 0);
  head.writeInt32BE(3 << 16, 4);
  return Buffer.concat([head, parameters]);
}

/** The field "M" (message) of an ErrorResponse. */
function errorText(response: Buffer): string {
  const fields = response.subarray(5).toString('utf8').split('\0');
  return fields.find((field) => field.startsWith('M'))?.slice(1) ?? 'refused';
}
