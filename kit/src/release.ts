/** The version in the service's package.json, put into its bundle by scripts/build.mjs. Sources that run as they are have none. */
declare const SERVICE_VERSION: string | undefined;

/** Groups of instances that differ in what they run, not in what they are for. */
export const tracks = ['stable', 'canary', 'blue', 'green', 'baseline'] as const;

export type Track = (typeof tracks)[number];

const builtVersion = typeof SERVICE_VERSION === 'string' ? SERVICE_VERSION : '0.0.0-source';

/** What an instance runs. */
export interface Release {
  /** Semantic version of the service. */
  readonly version: string;
  readonly track: Track;
}

export function trackNamed(name: string | undefined): Track | undefined {
  return tracks.find((track) => track === name);
}

/**
 * The release of this process, by its bundle and its environment, which comes first; an unknown track is stable (the
 * configuration refuses it).
 */
export function ownRelease(env: NodeJS.ProcessEnv = process.env): Release {
  return {
    version: env.SHOP_VERSION || builtVersion,
    track: trackNamed(env.SHOP_TRACK) ?? 'stable',
  };
}
