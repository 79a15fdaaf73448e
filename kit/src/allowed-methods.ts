/** A route as the router declares it: `/payments/:orderId/refund`. */
interface DeclaredRoute {
  readonly method: string | readonly string[];
  readonly url: string;
}

/** A segment without escapes (RFC 3986, 2.3): other values of a parameter are validated by the route. */
const PLAIN_SEGMENT = /^[\w.~-]{1,200}$/;

/** Remembers the routes of a server, to distinguish a wrong method (405) from a wrong path (404). */
export function createAllowedMethods() {
  const methodsOf = new Map<string, Set<string>>();

  return {
    add({ method, url }: DeclaredRoute): void {
      const methods = methodsOf.get(url) ?? new Set();
      for (const one of [method].flat()) methods.add(one);
      methodsOf.set(url, methods);
    },
    /** The methods of a request target's path, as `Allow` lists them; undefined when no route has the path. */
    find(target: string): readonly string[] | undefined {
      const [path = ''] = target.split('?', 1);
      const [, methods] = methodsOf.entries().find(([url]) => matches(url, path)) ?? [];
      return methods && [...methods].sort();
    },
  };
}

function matches(url: string, path: string): boolean {
  const [declared, given] = [url.split('/'), path.split('/')];
  if (declared.length !== given.length) return false;
  return declared.every((segment, index) =>
    segment.startsWith(':') ? PLAIN_SEGMENT.test(given[index] ?? '') : segment === given[index],
  );
}
