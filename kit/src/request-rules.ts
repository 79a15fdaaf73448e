import type { IncomingMessage } from 'node:http';
import { ProblemError } from './problems.ts';

/** Violation of RFC 9110 or 9112 by a request, for any route; undefined when there is none. */
export function refusalOf({ headers, httpVersion, rawHeaders }: IncomingMessage): ProblemError | undefined {
  // Here and not by Node, whose response has no body. HTTP/1.0 knows no Host.
  if (headers.host === undefined && httpVersion !== '1.0') {
    return new ProblemError('malformed_request', 'the Host header is missing');
  }
  // Node keeps the first one; the next server may take the other.
  if (hasTwoHosts(rawHeaders)) {
    const last = { headers: { connection: 'close' } };
    return new ProblemError('malformed_request', 'there is more than one Host header', last);
  }
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue' && httpVersion !== '1.0') {
    return new ProblemError('expectation_failed', 'the only expectation that is met is 100-continue');
  }
  const coding = headers['content-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    const options = { headers: { 'accept-encoding': 'identity' } };
    return new ProblemError('unsupported_content_encoding', 'send the body without a Content-Encoding', options);
  }
  return undefined;
}

/** `rawHeaders` has names and values in turn. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}
