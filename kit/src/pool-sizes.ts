/** Connections of one instance to its database, unless DATABASE_POOL_SIZE says otherwise: who has a pool, and how large it is. */
export const poolSizes = { catalog: 4, orders: 8, stock: 4, payments: 4, shipping: 4 } as const;

export function isPooled(service: string): service is keyof typeof poolSizes {
  return Object.hasOwn(poolSizes, service);
}
