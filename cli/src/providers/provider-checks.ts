import type { Availability, ProviderKind } from './component.ts';

/** The way serves now. */
export function available(kind: ProviderKind, detail: string): Availability {
  return { kind, available: true, installable: false, detail };
}

/** The way serves after `shopctl setup`. */
export function installable(kind: ProviderKind, detail: string): Availability {
  return { kind, available: false, installable: true, detail };
}

/** The way does not serve; `detail` says why and what would help. */
export function unavailable(kind: ProviderKind, detail: string): Availability {
  return { kind, available: false, installable: false, detail };
}

/** Work that a way has none of. */
export async function nothing(): Promise<void> {
  // Nothing to do: named so that a Launch reads as a list of what there is.
}
