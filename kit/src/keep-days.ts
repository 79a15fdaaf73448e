/*
 * How long rows are kept, in days. One place for the audit, which must never ask for what may be deleted, and for the services,
 * which delete. Decision 0050 says why the numbers are these.
 */

/** The audit compares an order across the databases for this long after it was placed. */
export const AUDIT_HORIZON_DAYS = 365;

/** A published event may be read, and published again, for this long. */
export const EVENT_KEEP_DAYS = 365;

/**
 * Rows of orders, payments, reservations and shipments are kept for this long at least. It is the audit's horizon, an
 * event that has its effect as late as it may be read, and a day for clocks that differ.
 */
export const FINANCIAL_KEEP_DAYS = AUDIT_HORIZON_DAYS + EVENT_KEEP_DAYS + 1;
