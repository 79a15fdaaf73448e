/**
 * The order of a health probe from outside: no order has this id, and each of its requests passes gateway, orders and the
 * database of orders. Its client decides whether it is traced, and no line is written about it.
 */
export const PROBE_ORDER_ID = '00000000-0000-0000-0000-000000000000';

/** Its path at the gateway. */
export const PROBE_PATH = `/api/orders/${PROBE_ORDER_ID}`;
