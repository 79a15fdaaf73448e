/** Keys that were seen lately. */
export interface RecentKeys {
  /** Whether the key comes for the first time, as far as is remembered; it is remembered from now on. */
  isFirst(key: string): boolean;
}

/** A client gives up within minutes: at 100 orders a second, this is what comes in three. */
const REMEMBERED_KEYS = 20_000;

/** Remembers the last `limit` keys, and up to as many before them. */
export function rememberKeys(limit = REMEMBERED_KEYS): RecentKeys {
  let recent = new Set<string>();
  let before = new Set<string>();
  return {
    isFirst(key) {
      if (recent.has(key) || before.has(key)) return false;
      if (recent.size >= limit) {
        before = recent;
        recent = new Set();
      }
      recent.add(key);
      return true;
    },
  };
}
