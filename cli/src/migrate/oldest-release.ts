import { createSchemaGate, type SchemaGate } from '../providers/schema/schema-gate.ts';

/** Nothing here knows what runs: the caller says which is the oldest, or the database is not contracted. */
export function gateFor(oldest: string | undefined): SchemaGate {
  return createSchemaGate({
    releasesOf: async (service) => [
      oldest === undefined
        ? { service, use: 'running', where: 'no --oldest was given' }
        : { service, version: oldest, use: 'running', where: '--oldest' },
    ],
    isPointOfNoReturn: () => false,
    advice: {
      kept: '',
      running:
        'replace what is older everywhere, then repeat this with --oldest VERSION: the oldest release that runs or may be rolled back to',
    },
  });
}
