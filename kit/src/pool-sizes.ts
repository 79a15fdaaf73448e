/** Those that need more than the rest. */
const larger: Readonly<Record<string, number>> = { orders: 8 };

/** Connections of one instance of a service to its database, unless DATABASE_POOL_SIZE says otherwise. */
export function poolSizeOf(service: string): number {
  return larger[service] ?? 4;
}
