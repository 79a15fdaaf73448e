/** What a confirmed order asks to be sent. */
export interface Shipment {
  readonly id: string;
  readonly orderId: string;
  readonly lines: readonly { readonly productId: number; readonly quantity: number }[];
  readonly createdAt: Date;
}
