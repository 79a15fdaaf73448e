/** What counts as a failed request: what a customer of a healthy system would not have seen. */
import type { ReadRecord } from '../../../scenarios/bench/read-record.ts';
import type { OrderRecord } from '../../../scenarios/lib/record.ts';

type Outcome = Pick<OrderRecord, 'http' | 'status' | 'reason' | 'code'>;

/**
 * Why an order that can be confirmed failed, in words that are the same for the same cause; undefined when it was confirmed.
 * Also an order that was cancelled with status 200 failed.
 */
export function failureOfOrder({ http, status, reason, code }: Outcome): string | undefined {
  if (http === 201 && status === 'Confirmed') return undefined;
  if (http === 0) return noResponse(code);
  if (status === 'Cancelled') return `${http} Cancelled: ${reason}`;
  return `${http} ${code ?? status ?? 'without a code'}`;
}

/** The same for the read of an order whose response came before. */
export function failureOfRead({
  http,
  wanted,
  status,
  code,
}: Pick<ReadRecord, 'http' | 'wanted' | 'status' | 'code'>): string | undefined {
  if (http === 200 && status === wanted) return undefined;
  if (http === 0) return noResponse(code);
  if (http === 200) return `200 ${status}, was ${wanted}`;
  return `${http} ${code ?? 'without a code'}`;
}

function noResponse(code = 'unknown'): string {
  return `no response: ${code}`;
}

/** The connection was refused or reset, so that no response came: what a listener does that closes. */
export function isReset(kind: string): boolean {
  return /^no response: (ECONNRESET|ECONNREFUSED|EPIPE|unreachable)$/.test(kind);
}
