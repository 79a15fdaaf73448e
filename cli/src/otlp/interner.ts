/** Makes equal strings one object, so that a name that a million spans share is held once. */
export interface Interner {
  (text: string): string;
  /** Characters held. */
  readonly size: number;
}

/** Texts longer than this are rarely shared. */
const LONGEST = 500;

/** Holds up to `limit` texts; begins empty again when it is full, which costs some sharing and nothing else. */
export function createInterner(limit: number): Interner {
  let known = new Map<string, string>();
  let size = 0;
  const intern = (text: string): string => {
    const found = known.get(text);
    if (found !== undefined) return found;
    if (text.length > LONGEST) return text;
    if (known.size >= limit) {
      known = new Map();
      size = 0;
    }
    known.set(text, text);
    size += text.length;
    return text;
  };
  return Object.defineProperty(intern, 'size', { get: () => size }) as Interner;
}
