/** The known name nearest to a mistyped one, if it is near enough to be meant. */
export function suggestName(typed: string, known: readonly string[]): string | undefined {
  const nearest = known
    .map((name) => ({ name, distance: editDistance(typed, name) }))
    .sort((a, b) => a.distance - b.distance)[0];
  return nearest && nearest.distance <= Math.max(2, typed.length / 3) ? nearest.name : undefined;
}

/** Levenshtein distance: insertions, deletions and replacements between two words. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
