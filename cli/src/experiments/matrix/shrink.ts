/**
 * The smallest part of a failing set that this finds to fail alone: delta debugging. Halves first, then smaller parts
 * and what is left without them, at last single elements. The result fails, and no single element can be left out of it
 * with the failure still there. `fails` is not asked twice about the same part, nor about the whole set, which is
 * known to fail. Source: A. Zeller, R. Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 28(2),
 * 2002.
 */
export async function shrink<T>(
  failing: readonly T[],
  fails: (part: readonly T[]) => Promise<boolean>,
): Promise<readonly T[]> {
  const known = new Map<string, boolean>();
  const ask = async (part: readonly T[]) => {
    const key = part.map((one) => failing.indexOf(one)).join();
    const response = known.get(key) ?? (await fails(part));
    known.set(key, response);
    return response;
  };
  let smallest = failing;
  let parts = 2;
  while (smallest.length > 1) {
    const next = await smaller(smallest, parts, ask);
    if (next !== undefined) {
      parts = next.isPart ? 2 : Math.max(parts - 1, 2);
      smallest = next.part;
    } else if (parts >= smallest.length) {
      break;
    } else {
      parts = Math.min(parts * 2, smallest.length);
    }
  }
  return smallest;
}

async function smaller<T>(
  set: readonly T[],
  count: number,
  fails: (part: readonly T[]) => Promise<boolean>,
): Promise<{ readonly part: readonly T[]; readonly isPart: boolean } | undefined> {
  const parts = split(set, count);
  for (const part of parts) if (await fails(part)) return { part, isPart: true };
  // Of two parts, what is left without one is the other.
  if (count === 2) return undefined;
  for (const part of parts) {
    const rest = set.filter((one) => !part.includes(one));
    if (await fails(rest)) return { part: rest, isPart: false };
  }
  return undefined;
}

/** So many parts, as equal as can be, none empty. */
function split<T>(set: readonly T[], count: number): readonly (readonly T[])[] {
  const bounds = Array.from({ length: count + 1 }, (_, index) => Math.floor((index * set.length) / count));
  return bounds.slice(1).map((end, index) => set.slice(bounds[index], end));
}
