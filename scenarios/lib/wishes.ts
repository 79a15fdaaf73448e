import { fraction, pick } from './random.ts';

/** What a client asks for, and the answer that it must get when nothing is wrong. */
export interface Wish {
  readonly kind: 'confirmed' | 'declined' | 'out of stock' | 'invalid';
  /** As it is sent. */
  readonly body: string;
  /** Products that the catalog is asked for; the trace has a read for each. */
  readonly distinctProducts: number;
  readonly expected: {
    readonly http: number;
    readonly status?: 'Confirmed' | 'Cancelled';
    readonly reason?: string;
    /** Of a problem. */
    readonly code?: string;
  };
}

export interface Line {
  readonly productId: number;
  readonly quantity: number;
}

/** Never a person's name: it would be looked for in the logs. */
const CUSTOMER = 'Load scenario';
/** Well stocked, and affordable in the quantities below. */
const PRODUCTS = [1, 2, 3, 4, 5, 6, 7, 8, 9] as const;
const QUANTITIES = [1, 2, 3] as const;
/** Costs more than the payment limit. */
const TOO_DEAR = 12;
/** Ten were ever there; a thousand is the most that may be asked for. */
const SCARCE: Line = { productId: 10, quantity: 1_000 };
const UNKNOWN_PRODUCT = 999_999;

/** One line of a well-stocked product: a trace of exactly 31 spans. */
export function confirmedWish(seed: number, phase: string, index: number): Wish {
  const productId = pick(PRODUCTS, fraction(seed, phase, index, 'product'));
  const quantity = pick(QUANTITIES, fraction(seed, phase, index, 'quantity'));
  return confirmed([{ productId, quantity }]);
}

/** Everybody wants the same product: one row of the stock. */
export function hotWish(): Wish {
  return confirmed([{ productId: 1, quantity: 1 }]);
}

/** Of ten orders seven are confirmed (some of two products), and one each is declined, out of stock and invalid. */
export function mixedWish(seed: number, phase: string, index: number): Wish {
  const share = fraction(seed, phase, index, 'kind');
  if (share < 0.5) return confirmedWish(seed, phase, index);
  if (share < 0.7) return confirmed(twoLines(seed, phase, index));
  if (share < 0.8) return declined;
  if (share < 0.9) return outOfStock;
  return pick(invalid, fraction(seed, phase, index, 'invalid'));
}

function twoLines(seed: number, phase: string, index: number): readonly Line[] {
  const first = Math.floor(fraction(seed, phase, index, 'product') * PRODUCTS.length);
  const second =
    (first + 1 + Math.floor(fraction(seed, phase, index, 'second') * (PRODUCTS.length - 1))) % PRODUCTS.length;
  return [first, second].map((place) => ({ productId: PRODUCTS[place] as number, quantity: 1 }));
}

function confirmed(lines: readonly Line[]): Wish {
  return wish('confirmed', lines, { http: 201, status: 'Confirmed' });
}

const declined = wish('declined', [{ productId: TOO_DEAR, quantity: 1 }], {
  http: 200,
  status: 'Cancelled',
  reason: 'payment declined',
});

const outOfStock = wish('out of stock', [SCARCE], { http: 200, status: 'Cancelled', reason: 'out of stock' });

const invalid: readonly Wish[] = [
  wish('invalid', [{ productId: 1, quantity: 0 }], { http: 400, code: 'invalid_request' }),
  wish('invalid', [{ productId: UNKNOWN_PRODUCT, quantity: 1 }], { http: 422, code: 'unknown_product' }),
  { kind: 'invalid', body: '{"customer":', distinctProducts: 0, expected: { http: 400, code: 'malformed_json' } },
];

function wish(kind: Wish['kind'], lines: readonly Line[], expected: Wish['expected']): Wish {
  return { kind, body: JSON.stringify({ customer: CUSTOMER, lines }), distinctProducts: lines.length, expected };
}
