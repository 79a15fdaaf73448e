import { formatCount } from '../../output/units.ts';
import type { OrderFact, PricedLine, PriceFact } from '../facts.ts';
import { type Finding, NO_FINDINGS, type OrderInvariant } from '../invariant.ts';

/** From reading a price to writing the order: the order's whole budget, with clocks that differ a little. In ms. */
const READ_BEFORE_MS = 15_000;
/** How much later the catalog's clock may say it than that of orders, in ms. */
const CLOCK_SLACK_MS = 1_000;

/** I15: each line of an order has a price, in its currency, that the catalog gave when the order was placed. */
export function pricesAreOfCatalog(prices: readonly PriceFact[]): OrderInvariant {
  const byProduct = Map.groupBy(prices, ({ productId }) => productId);
  return {
    id: 'I15',
    title: "orders have the catalog's prices",
    needs: ['orders', 'catalog'],
    compares: [],
    start() {
      const tally = { orders: 0, lines: 0 };
      return {
        add({ order }) {
          if (order === undefined) return NO_FINDINGS;
          tally.orders++;
          tally.lines += order.lines.length;
          return check(order, byProduct);
        },
        evidence: () =>
          `${formatCount(tally.lines)} lines of ${formatCount(tally.orders)} orders, ${formatCount(prices.length)} prices of ${formatCount(byProduct.size)} products`,
      };
    },
  };
}

function check(order: OrderFact, byProduct: ReadonlyMap<number, readonly PriceFact[]>): Finding {
  const violations = order.lines.flatMap((line) => {
    const detail = differenceOf(line, order, byProduct.get(line.productId) ?? []);
    return detail === undefined ? [] : [{ kind: 'wrong' as const, detail }];
  });
  return violations.length === 0 ? NO_FINDINGS : { violations };
}

/** Undefined when the line's price is one that may have been read for the order. `prices` are in the order of their times. */
function differenceOf(
  { productId, priceKopiykas }: PricedLine,
  { currency, createdAt }: OrderFact,
  prices: readonly PriceFact[],
): string | undefined {
  if (prices.length === 0) return `product ${productId} is not in the catalog`;
  const valid = prices.filter(
    ({ validFrom }, index) =>
      validFrom <= createdAt + CLOCK_SLACK_MS &&
      (prices[index + 1]?.validFrom ?? Number.POSITIVE_INFINITY) >= createdAt - READ_BEFORE_MS,
  );
  if (valid.some((price) => price.priceKopiykas === priceKopiykas && price.currency === currency)) return undefined;
  const catalog = valid.map((price) => `${price.priceKopiykas} ${price.currency}`).join(' or ');
  return `product ${productId} was ordered for ${priceKopiykas} ${currency} (minor units), the catalog had ${catalog || 'no price'}`;
}
