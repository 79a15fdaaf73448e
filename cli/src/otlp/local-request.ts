import type { IncomingHttpHeaders } from 'node:http';

const LOCAL = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/i;

/**
 * Why a request to a server on loopback is refused: status and reason; undefined when it is not. A web page reaches
 * loopback in two ways. One is a name of the page's that points here (DNS rebinding), which Host shows (421, RFC 9110,
 * section 15.5.20). The other is a request across origins, which Origin shows (403).
 */
export function refusalOf(headers: IncomingHttpHeaders): { status: 403 | 421; message: string } | undefined {
  const { host = '', origin } = headers;
  if (!LOCAL.test(host)) return { status: 421, message: `this server is 127.0.0.1 or localhost, not "${host}"` };
  if (origin !== undefined) return { status: 403, message: 'web pages may not ask this server' };
  return undefined;
}
