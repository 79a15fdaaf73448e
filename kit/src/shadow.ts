/** Of an instance in the shadow: `GET {path}?after=3` gives its outcomes from the fourth on. */
export const SHADOW_OUTCOMES_PATH = '/shadow/outcomes';

/** What one message has written, or would have. */
export interface ShippedRows {
  readonly inbox: readonly { readonly type: string; readonly orderId: string }[];
  /** Lines of the order's shipment, and of each parcel. */
  readonly shipments: readonly unknown[];
  readonly parcels: readonly unknown[];
}

/** What an instance in the shadow would have done with a message. */
export interface ShadowOutcome {
  /** 1, 2, 3, in the order in which they ended. */
  readonly number: number;
  /** Null where neither the message nor its properties name one. */
  readonly messageId: string | null;
  /** `unreceived`: the inbox had no such message in time, so there was nothing to compare with. */
  readonly settlement: 'ack' | 'dead-letter' | 'retry' | 'unacked' | 'unreceived';
  /** Absent where no transaction came to its end. */
  readonly written?: ShippedRows;
}
