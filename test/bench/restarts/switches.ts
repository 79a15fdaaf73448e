/** How soon all calls are with the other set, once a blue-green deploy has switched them. */
import { summarize } from '../rounds.ts';

export interface Switch {
  readonly way: 'there' | 'back';
  /** From the step in the journal to the last order that the set it leaves got, ms. */
  readonly lastMs: number;
  /** The same from the request to the supervisor, where one asked for it. */
  readonly sinceAskedMs?: number;
}

/** An order that an instance began to serve, ms since 1970. */
export interface Served {
  readonly instance: string;
  readonly at: number;
}

/** Longest that it may take, ms. */
const SWITCH_LIMIT_MS = 300;

/** When those that are left got their last order, ms after `at`; 0 where none came after it. Throws Error without any order. Pure. */
export function lastServedMs(
  served: readonly Served[],
  { left, at }: { readonly left: readonly string[]; readonly at: number },
): number {
  if (!served.some((one) => one.at > at)) throw new Error('no order was served after the switch');
  const own = served.filter(({ instance }) => left.includes(instance));
  return Math.max(0, ...own.map((one) => one.at - at));
}

/** What took too long. Pure. */
export function switchMissesOf(service: string, switches: readonly Switch[]): readonly string[] {
  return switches
    .filter(({ lastMs, sinceAskedMs = 0 }) => Math.max(lastMs, sinceAskedMs) > SWITCH_LIMIT_MS)
    .map(
      ({ way, lastMs, sinceAskedMs }) =>
        `${service}: the switch ${way} took ${Math.max(lastMs, sinceAskedMs ?? 0).toFixed(0)} ms, at most ${SWITCH_LIMIT_MS} were wanted`,
    );
}

/** `orders: 3 switches there, last order after 12 ms, at most 39; ...`; none without a switch. Pure. */
export function describeSwitches(service: string, switches: readonly Switch[]): readonly string[] {
  return (['there', 'back'] as const).flatMap((way) => {
    const own = switches.filter((one) => one.way === way);
    if (own.length === 0) return [];
    const { median, max } = summarize(own.map(({ lastMs }) => lastMs));
    const asked = own.flatMap(({ sinceAskedMs }) => sinceAskedMs ?? []);
    const since = asked.length === 0 ? '' : `, at most ${Math.max(...asked).toFixed(0)} ms after it was asked for`;
    return [
      `${service}: ${own.length} switches ${way}, the last order of the other set ${median.toFixed(0)} ms after the step in the median, at most ${max.toFixed(0)} ms${since}`,
    ];
  });
}
