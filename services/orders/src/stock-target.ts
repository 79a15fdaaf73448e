import { isIPv4 } from 'node:net';

/**
 * The gRPC target for a `host:port` address of stock: an IPv4 address, or a name. Its addresses are looked up in the
 * DNS again whenever a connection is lost (a headless Service names one address per pod). Source:
 * https://github.com/grpc/grpc/blob/master/doc/naming.md
 */
export function stockTarget(address: string): string {
  const host = address.slice(0, address.lastIndexOf(':'));
  return isIPv4(host) ? `ipv4:${address}` : `dns:///${address}`;
}
