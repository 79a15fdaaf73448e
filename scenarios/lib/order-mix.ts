import { fraction, pick } from './random.ts';

/** An order that a client places, and the response that a healthy system gives. */
export interface OrderTemplate {
  readonly kind: 'confirmed' | 'declined' | 'out of stock' | 'invalid';
  /** The request's body, JSON. */
  readonly body: string;
  /** Products to read from the catalog; the trace has a read for each. */
  readonly distinctProducts: number;
  readonly expected: {
    readonly http: number;
    readonly status?: 'Confirmed' | 'Cancelled';
    readonly reason?: string;
    /** Code of a problem. */
    readonly code?: string;
  };
}

export interface Line {
  readonly productId: number;
  readonly quantity: number;
}

/** Not a name of a person: `verify` searches the logs for such names. */
const CUSTOMER = 'Load scenario';
/** Well stocked, and affordable in the quantities below. */
const PRODUCTS = [1, 2, 3, 4, 5, 6, 7, 8, 9] as const;
const QUANTITIES = [1, 2, 3] as const;
/** Costs more than the payment limit. */
const OVER_LIMIT_PRODUCT_ID = 12;
/** Initial stock is ten units; a line may order at most a thousand. */
const SCARCE: Line = { productId: 10, quantity: 1_000 };
const UNKNOWN_PRODUCT = 999_999;

/** One line of a well-stocked product: a trace of exactly 31 spans. */
export function confirmedOrder(seed: number, phase: string, index: number): OrderTemplate {
  const productId = pick(PRODUCTS, fraction(seed, phase, index, 'product'));
  const quantity = pick(QUANTITIES, fraction(seed, phase, index, 'quantity'));
  return confirmed([{ productId, quantity }]);
}

/** All orders take the same product: contention on one row of the stock. */
export function hotProductOrder(): OrderTemplate {
  return confirmed([{ productId: 1, quantity: 1 }]);
}

/** Of ten orders seven are confirmed (some of two products), and one each is declined, out of stock and invalid. */
export function mixedOrder(seed: number, phase: string, index: number): OrderTemplate {
  const share = fraction(seed, phase, index, 'kind');
  if (share < 0.5) return confirmedOrder(seed, phase, index);
  if (share < 0.7) return confirmed(twoLines(seed, phase, index));
  if (share < 0.8) return declined;
  if (share < 0.9) return outOfStock;
  return pick(invalid, fraction(seed, phase, index, 'invalid'));
}

/** Declined and out of stock by turns. */
export function refusedOrder(index: number): OrderTemplate {
  return index % 2 === 0 ? declined : outOfStock;
}

function twoLines(seed: number, phase: string, index: number): readonly Line[] {
  const first = Math.floor(fraction(seed, phase, index, 'product') * PRODUCTS.length);
  const second =
    (first + 1 + Math.floor(fraction(seed, phase, index, 'second') * (PRODUCTS.length - 1))) % PRODUCTS.length;
  return [first, second].map((place) => ({ productId: PRODUCTS[place] as number, quantity: 1 }));
}

function confirmed(lines: readonly Line[]): OrderTemplate {
  return template('confirmed', lines, { http: 201, status: 'Confirmed' });
}

const declined = template('declined', [{ productId: OVER_LIMIT_PRODUCT_ID, quantity: 1 }], {
  http: 200,
  status: 'Cancelled',
  reason: 'payment declined',
});

const outOfStock = template('out of stock', [SCARCE], { http: 200, status: 'Cancelled', reason: 'out of stock' });

const invalid: readonly OrderTemplate[] = [
  template('invalid', [{ productId: 1, quantity: 0 }], { http: 400, code: 'invalid_request' }),
  template('invalid', [{ productId: UNKNOWN_PRODUCT, quantity: 1 }], { http: 422, code: 'unknown_product' }),
  { kind: 'invalid', body: '{"customer":', distinctProducts: 0, expected: { http: 400, code: 'malformed_json' } },
];

function template(
  kind: OrderTemplate['kind'],
  lines: readonly Line[],
  expected: OrderTemplate['expected'],
): OrderTemplate {
  return { kind, body: JSON.stringify({ customer: CUSTOMER, lines }), distinctProducts: lines.length, expected };
}
