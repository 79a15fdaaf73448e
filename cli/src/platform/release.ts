import { type Static, Type } from 'typebox';

/** What instances of a service are started from, in place of what the clone has built. It stays as it is. */
export const ReleaseSchema = Type.Object({
  /** `0.3.0-g2a3047fe`, `0.3.0-g2a3047fe+bug.no-inbox`. */
  version: Type.String(),
  /** Where its bundles are, relative to the clone. */
  folder: Type.String(),
  /** Of its bundles, or its image's id: two builds with one version differ in it. */
  digest: Type.String(),
  /** For containers, in place of bundles: `shop/orders:0.3.0-g2a3047fe`. */
  image: Type.Optional(Type.String()),
  /** Known bugs that are put back into it. */
  seededBugs: Type.Array(Type.String()),
  /** Added to the environment. It may hold secrets: never printed. */
  env: Type.Record(Type.String(), Type.String()),
});

export type Release = Readonly<Static<typeof ReleaseSchema>>;
