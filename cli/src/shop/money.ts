/** `1,234.50 UAH` from minor units (kopiykas). `amount` must be an integer. */
export function formatMoney(amount: number, currency: string): string {
  const sign = amount < 0 ? '-' : '';
  const digits = String(Math.abs(amount)).padStart(3, '0');
  const whole = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, ',');
  return `${sign}${whole}.${digits.slice(-2)} ${currency}`;
}
