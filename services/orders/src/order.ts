import { createHash } from 'node:crypto';
import { MAX_QUANTITY } from '@shop/kit/order-api.ts';
import { type FieldError, type ProblemCode, ProblemError } from '@shop/kit/problems.ts';
import type { Product } from './catalog-client.ts';
import type { OrderLine } from './saga/saga.ts';

export const CURRENCY = 'UAH';

export interface RequestedLine {
  readonly productId: number;
  readonly quantity: number;
}

export interface OrderRequest {
  readonly customer: string;
  readonly lines: readonly RequestedLine[];
}

/** Lines of one product become one, in the order of their first appearance. Throws ProblemError when that is too many. */
export function mergeLines(lines: readonly RequestedLine[]): readonly RequestedLine[] {
  const quantities = new Map<number, number>();
  for (const { productId, quantity } of lines) quantities.set(productId, (quantities.get(productId) ?? 0) + quantity);
  const errors: FieldError[] = lines.flatMap(({ productId }, index) =>
    (quantities.get(productId) ?? 0) > MAX_QUANTITY
      ? [
          {
            pointer: `#/lines/${index}/quantity`,
            detail: `the lines of one product may sum to ${MAX_QUANTITY} at most`,
          },
        ]
      : [],
  );
  if (errors.length > 0)
    throw new ProblemError('invalid_request', `${errors.length} field(s) are not valid`, { errors });
  return [...quantities].map(([productId, quantity]) => ({ productId, quantity }));
}

/** The lines with the catalog's prices. Throws ProblemError naming every product that does not exist, or has another currency. */
export function priceLines(
  lines: readonly RequestedLine[],
  products: readonly (Product | undefined)[],
): readonly OrderLine[] {
  const unknown = idsOf(lines, (index) => products[index] === undefined);
  if (unknown.length > 0) throw refusal('unknown_product', 'there is no product', unknown, 'does not exist');
  // Amounts in different currencies have no sum, and the limit of a payment is in this one.
  const foreign = idsOf(lines, (index) => products[index]?.currency !== CURRENCY);
  if (foreign.length > 0) {
    throw refusal('unsupported_currency', `not sold in ${CURRENCY}: product`, foreign, `is not sold in ${CURRENCY}`);
  }
  return lines.map((line, index) => ({ ...line, priceKopiykas: (products[index] as Product).priceKopiykas }));
}

function idsOf(lines: readonly RequestedLine[], isWanted: (index: number) => boolean): readonly number[] {
  return lines.filter((_, index) => isWanted(index)).map(({ productId }) => productId);
}

function refusal(code: ProblemCode, detail: string, productIds: readonly number[], why: string): ProblemError {
  const errors = productIds.map((id) => ({ pointer: '#/lines', detail: `product ${id} ${why}` }));
  return new ProblemError(code, `${detail} ${productIds.join(', ')}`, { errors });
}

/** Sum of price times quantity in kopiykas. Throws ProblemError when it cannot be an exact integer. */
export function totalKopiykas(lines: readonly OrderLine[]): number {
  const total = lines.reduce((sum, { priceKopiykas, quantity }) => sum + priceKopiykas * quantity, 0);
  if (!Number.isSafeInteger(total)) throw new ProblemError('total_too_large', 'order fewer or cheaper products');
  return total;
}

/** Equal for requests that ask for the same; kept beside an idempotency key instead of the request itself. */
export function hashRequest(customer: string, lines: readonly RequestedLine[]): string {
  const sorted = lines
    .toSorted((a, b) => a.productId - b.productId)
    .map(({ productId, quantity }) => [productId, quantity]);
  return createHash('sha256')
    .update(JSON.stringify([customer, sorted]))
    .digest('base64url');
}
