/** Whether a text is a TCP port, 1 to 65535. */
export function isPort(text: string): boolean {
  return /^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65_535;
}

/** A port, or 0 for any free one, as listeners have it. */
export function isPortOrAny(text: string): boolean {
  return text === '0' || isPort(text);
}
