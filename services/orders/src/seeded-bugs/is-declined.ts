/** Whether a response of payments says that the payment was declined. */
export function isDeclined(response: unknown): boolean {
  return typeof response === 'object' && response !== null && 'status' in response && response.status === 402;
}
