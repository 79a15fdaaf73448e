/** Unreserved characters only (RFC 3986, 2.3): nothing here can mean something else to the next server. */
const PUBLIC_PATH = /^\/api(\/orders(?:\/[A-Za-z0-9._~-]+)*\/?)$/;
const QUERY = /^[A-Za-z0-9\-._~%!$&'()*+,;=:@/?]*$/;

/**
 * The target in the orders service for a request target as the client sent it, `/api/orders/x?y` -> `/orders/x?y`; undefined
 * for a target that is not a plain path there. An escaped, empty or dot segment is refused, not normalised: the router,
 * the URL parser and the next server need not agree on what it means.
 */
export function toOrdersTarget(target: string): string | undefined {
  const queryAt = target.indexOf('?');
  const path = queryAt === -1 ? target : target.slice(0, queryAt);
  const query = target.slice(path.length);
  const ordersPath = PUBLIC_PATH.exec(path)?.[1];
  if (ordersPath === undefined || !QUERY.test(query)) return undefined;
  return ordersPath.split('/').some((segment) => segment === '.' || segment === '..') ? undefined : ordersPath + query;
}

/** The public path for one that orders names (in `Location`); other values are returned as they are. */
export function toPublicPath(location: string): string {
  return /^\/orders(?=[/?]|$)/.test(location) ? `/api${location}` : location;
}
