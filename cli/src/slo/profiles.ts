import { windowMs } from './window.ts';

/** Where rules are evaluated: how often Prometheus scrapes there, and how long its windows are. */
export interface Profile {
  readonly name: ProfileName;
  /** In a sentence: "a platform on one machine". */
  readonly where: string;
  readonly scrapeMs: number;
  /** The window that stands for one of a file; those of a file are the production's. */
  windowFor(written: string): string | undefined;
  /** Requests, and bad ones among them, in the long window below which no burn rate is believed. */
  readonly guard: { readonly requests: number; readonly bad: number };
  /** The supervisor's own meter, `Shop.Platform`, is there. */
  readonly hasSupervisor: boolean;
}

export type ProfileName = 'production' | 'laptop';

/**
 * A month in an hour. The ratios are not those of the production's windows: 10 s is what a rate needs at least, and who
 * tries a fault does not wait for minutes.
 */
const laptopWindows: ReadonlyMap<string, string> = new Map([
  ['5m', '10s'],
  ['30m', '1m'],
  ['1h', '1m'],
  ['6h', '5m'],
  ['3d', '15m'],
  ['30d', '1h'],
]);

/** Fewer bad requests than that are an incident of one client; one of few requests is a large share. */
const guard = { requests: 20, bad: 3 } as const;

export const profiles: Readonly<Record<ProfileName, Profile>> = {
  production: {
    name: 'production',
    where: 'a cluster, with the collector of `deploy/`',
    scrapeMs: 15_000,
    windowFor: (written) => written,
    guard,
    hasSupervisor: false,
  },
  laptop: {
    name: 'laptop',
    where: 'a platform on one machine',
    scrapeMs: 1_000,
    windowFor: (written) => laptopWindows.get(written),
    guard,
    hasSupervisor: true,
  },
};

export const profileNames = Object.keys(profiles) as readonly ProfileName[];

/** Windows of files that the profile has one for. */
export function knownWindows(): readonly string[] {
  return [...laptopWindows.keys()];
}

/** A rate over a window needs two samples; with five, one that is missed or late does not make it wrong. */
const SAMPLES_OF_A_WINDOW = 5;

/** The shortest window of a profile, in ms. */
export function leastWindowMs({ scrapeMs }: Profile): number {
  return SAMPLES_OF_A_WINDOW * scrapeMs;
}

/** Whether a window of this profile, as it stands in expressions, is long enough. */
export function isLongEnough(window: string, profile: Profile): boolean {
  return (windowMs(window) ?? 0) >= leastWindowMs(profile);
}
