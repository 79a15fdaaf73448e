/** A number and what it counts. */
export interface Quantity {
  readonly value: number;
  readonly unit: 'ms' | 'number';
}
