import type { Violation } from '../../audit/invariant.ts';

/** Keys and values in one line: `edge orders-payments, at-least 1`. Nested values are written as JSON. */
export function pairsText(values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
    .join(', ');
}

/** `breaker.open, edge orders-payments`. */
export function conditionText({ event, ...rest }: { readonly event: string; readonly [key: string]: unknown }): string {
  const limits = pairsText(rest);
  return limits === '' ? event : `${event}, ${limits}`;
}

/** `lost 0192...: no shipment`. */
export function violationText({ kind, orderId, detail }: Violation): string {
  return orderId === undefined ? `${kind}: ${detail}` : `${kind} ${orderId}: ${detail}`;
}
