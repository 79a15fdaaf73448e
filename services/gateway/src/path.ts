/** Unreserved characters only (RFC 3986, 2.3): nothing here can mean something else to the next server. */
const ORDERS_PATH = /^\/orders(?:\/[A-Za-z0-9._~-]+)*\/?$/;
const QUERY = /^[A-Za-z0-9\-._~%!$&'()*+,;=:@/?]*$/;

/**
 * The target in the orders service for a request target as the client sent it. With the base `/api`, `/api/orders/x?y` ->
 * `/orders/x?y`. Undefined for a target that is not a plain path there. An escaped, empty or dot segment is refused, not normalised: the router,
 * the URL parser and the next server need not agree on what it means.
 */
export function toOrdersTarget(target: string, base: string): string | undefined {
  const queryAt = target.indexOf('?');
  const path = queryAt === -1 ? target : target.slice(0, queryAt);
  const query = target.slice(path.length);
  const ordersPath = path.startsWith(base) ? path.slice(base.length) : '';
  if (!ORDERS_PATH.test(ordersPath) || !QUERY.test(query)) return undefined;
  return ordersPath.split('/').some((segment) => segment === '.' || segment === '..') ? undefined : ordersPath + query;
}

/**
 * The path for clients of a version of the API, for one that orders names (in `Location`): that of version 1, or its own. Other
 * values are returned as they are.
 */
export function toPublicPath(location: string, base: string): string {
  return location.replace(/^(?:\/api)?(?=\/orders(?:[/?]|$))/, base);
}
