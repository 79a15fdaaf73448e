import type { Database } from '@shop/kit/database.ts';
import { findReservation } from '../repository.ts';
import type { Stock } from '../stock.ts';

const forgotten = () => undefined;

/**
 * Seeded bug `release-before-reserve-forgotten`: a release without a reservation leaves no tombstone, and a reservation is
 * made for a caller that has left; each alone is covered by the other.
 */
export function forgettingEarlyReleases(stock: Stock, database: Database): Stock {
  return {
    reserve: (request) => stock.reserve(request, forgotten),
    async release(request, stillWanted) {
      if ((await findReservation(database, request.orderId)) === undefined) return false;
      return stock.release(request, stillWanted);
    },
  };
}
