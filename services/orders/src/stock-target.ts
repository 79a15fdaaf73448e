import { isIPv4 } from 'node:net';

/**
 * The gRPC target for `host:port` addresses of stock: several IPv4 addresses, or one name, whose addresses in the DNS are
 * asked for again whenever a connection is lost (a headless Service names one address per pod). Throws RangeError for
 * several names: a channel follows one. Source: https://github.com/grpc/grpc/blob/master/doc/naming.md
 */
export function stockTarget(addresses: readonly string[]): string {
  const hosts = addresses.map((address) => address.slice(0, address.lastIndexOf(':')));
  if (hosts.every((host) => isIPv4(host))) return `ipv4:${addresses.join(',')}`;
  const [address, ...more] = addresses;
  if (more.length > 0) {
    throw new RangeError(`STOCK_ADDRESSES takes IPv4 addresses, or one name with a port, got ${addresses.join(',')}`);
  }
  return `dns:///${address}`;
}
