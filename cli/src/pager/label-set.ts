/** Labels or annotations of an alert. */
export type LabelSet = Readonly<Record<string, string>>;

/** FNV-1a, 64 bit. */
const OFFSET_BASIS = 14_695_981_039_346_656_037n;
const PRIME = 1_099_511_628_211n;
const SEPARATOR = 255;

/**
 * The identity of an alert, 16 hexadecimal digits, equal to Alertmanager's: FNV-1a over names and values in the order of names, each
 * followed by the byte 255. Source: prometheus/common, `model/signature.go`, `labelSetToFingerprint`.
 */
export function fingerprintOf(labels: LabelSet): string {
  let hash = OFFSET_BASIS;
  const add = (byte: number) => {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * PRIME);
  };
  for (const name of Object.keys(labels).sort(byCodePoint)) {
    for (const text of [name, labels[name] as string]) {
      for (const byte of Buffer.from(text)) add(byte);
      add(SEPARATOR);
    }
  }
  return hash.toString(16).padStart(16, '0');
}

/** As Go compares strings: by their UTF-8 bytes. */
export function byCodePoint(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Without those that have no value: to Prometheus they are the same as absent. */
export function withoutEmpty(labels: LabelSet): LabelSet {
  return Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== ''));
}

/** `edge="orders-payments", severity="cause"`. */
export function writeLabels(labels: LabelSet): string {
  const names = Object.keys(labels).sort(byCodePoint);
  return names.map((name) => `${name}=${JSON.stringify(labels[name])}`).join(', ');
}
