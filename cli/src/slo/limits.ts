/*
 * What the SLOs count as slow and as late. Their expressions have buckets of histograms for it; who looks at single orders, such as a load
 * or a drill, takes these. A test compares both.
 */

/** `orders-latency`: a response that takes longer is slow. */
export const SLOW_RESPONSE_MS = 1_000;

/** `shipments-freshness`: the longest time from the confirmation of an order to its shipment. */
export const LATE_SHIPMENT_MS = 15_000;
