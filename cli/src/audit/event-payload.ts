import type { EventFact } from './facts.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * What `order.confirmed` says, in version 1 or 2: distinguished by its fields, so that nothing is taken on trust. Pure.
 */
export function readEvent(payload: unknown): EventFact {
  const event = objectOf(payload);
  const data = objectOf(event.data);
  const total = typeof data.total === 'number' ? { amount: data.total, currency: data.currency } : objectOf(data.total);
  return {
    id: textOf(event.id),
    type: textOf(event.type),
    source: textOf(event.source),
    orderId: textOf(data.orderId),
    totalKopiykas: numberOf(total.amount),
    currency: textOf(total.currency),
    lines: Array.isArray(data.lines) ? data.lines.map(objectOf).map(lineOf) : [],
  };
}

function lineOf({ productId, quantity, unitPrice }: Json): EventFact['lines'][number] {
  const line = { productId: Number(productId), quantity: Number(quantity) };
  return unitPrice === undefined ? line : { ...line, priceKopiykas: Number(unitPrice) };
}

function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
