import type { Track } from '@shop/kit/release.ts';
import type { Release } from './release.ts';

/** One replica of a service, and what it runs. */
export interface FleetMember {
  /** Of its name: 2 in `orders-2`. */
  readonly number: number;
  /** Absent: what the clone has built. */
  readonly release?: Release;
  readonly track: Track;
  /** The track of its process, which was started before it came to belong to another one. */
  readonly startedAs?: Track;
  /** Its share of the calls. With 0 it is called by requests that name its track, and takes no messages. */
  readonly weight: number;
  /** It is tried out, and clients do not know it: a gateway has a separate port. */
  readonly isPrivate?: true;
}

/** Replicas by service. A service that is not here has those of `usualMembers`. */
export type Fleet = Readonly<Record<string, readonly FleetMember[]>>;

/** The share of a replica where nothing else is said. */
export const FULL_WEIGHT = 100;

/** Replicas 1 to `count`, which share all calls. */
export function usualMembers(count: number, release: Release | undefined): readonly FleetMember[] {
  return resized([], count, { ...(release && { release }), track: 'stable', weight: FULL_WEIGHT });
}

/** With `count` replicas: the last ones leave, or such as `like` are added. Pure. */
export function resized(
  members: readonly FleetMember[],
  count: number,
  like: Omit<FleetMember, 'number'> | undefined = members[0],
): readonly FleetMember[] {
  if (count <= members.length || like === undefined) return members.slice(0, count);
  const numbers = freeNumbers(members, count - members.length);
  const { startedAs: _, ...started } = like;
  return [...members, ...numbers.map((number) => ({ ...started, number }))];
}

/** It belongs to this track from now on, and its process goes on as it was started. Pure. */
export function relabelled(member: FleetMember, track: Track | undefined): FleetMember {
  if (track === undefined || track === member.track) return member;
  return { ...member, track, startedAs: member.startedAs ?? member.track };
}

/** The least numbers that no member has. Pure. */
export function freeNumbers(members: readonly FleetMember[], count: number): readonly number[] {
  const taken = new Set(members.map(({ number }) => number));
  const free: number[] = [];
  for (let number = 1; free.length < count; number++) if (!taken.has(number)) free.push(number);
  return free;
}
