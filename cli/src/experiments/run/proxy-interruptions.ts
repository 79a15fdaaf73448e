import type { PlatformEvent } from '../../platform/events.ts';

/** Every edge leads through it, and faults of edges act in it. */
const PROXY = 'toxiproxy';

/** A response to the supervisor that comes this much later is a loaded machine, not an interruption. ms. */
const HICCUP_MS = 3_000;

const ENDS: readonly string[] = ['instance.crashed', 'instance.failed', 'instance.starting', 'instance.stopped'];

export function isProxy(subject: string): boolean {
  return subject === PROXY;
}

/**
 * When Toxiproxy ended, was started again, or did not respond for longer than a moment; `now` in ms since 1970. It does
 * not belong to the shop: what orders met meanwhile was neither the experiment's fault nor the shop's usual network.
 */
export function proxyInterruptions(events: readonly PlatformEvent[], now: number): readonly PlatformEvent[] {
  const own = events.filter(({ subject }) => isProxy(subject));
  return own.filter(({ type, time }, index) => {
    if (ENDS.includes(type)) return true;
    if (type !== 'instance.unready') return false;
    const next = own[index + 1];
    return (next === undefined ? now : Date.parse(next.time)) - Date.parse(time) >= HICCUP_MS;
  });
}
