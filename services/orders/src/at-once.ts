/**
 * The results of `work` for each item, in order, at most `atOnce` of them under way. Rejects with the first failure, after
 * which no more is started.
 */
export async function mapAtOnce<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  let next = 0;

  async function takeTurns(): Promise<void> {
    while (next < items.length) {
      const index = next++;
      try {
        results[index] = await work(items[index] as T);
      } catch (error) {
        next = items.length;
        throw error;
      }
    }
  }

  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, takeTurns));
  return results;
}
