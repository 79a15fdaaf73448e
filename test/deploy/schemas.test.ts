import { beforeAll, describe, expect, it } from 'vitest';
import type { Manifest } from './support/manifest.ts';
import { applied, cannotRender, render } from './support/render.ts';
import { createValidator, noSchemas } from './support/schemas.ts';

const LIMIT_MS = 180_000;

describe.skipIf(cannotRender !== undefined || noSchemas !== undefined)(
  'schemas of Kubernetes and its extensions',
  { timeout: 60_000 },
  () => {
    let check: (manifest: Manifest) => readonly string[];
    beforeAll(async () => {
      check = await createValidator();
    }, LIMIT_MS);

    it.each(applied)('accept deploy/%s', async (folder) => {
      const manifests = await render(folder);
      expect(manifests.length).toBeGreaterThan(0);
      expect(manifests.flatMap((manifest) => check(manifest))).toEqual([]);
    });

    it('refuse a field that does not exist, a missing one, a wrong type, and an unknown kind', () => {
      const service = (spec: object, kind = 'Service') => ({ apiVersion: 'v1', kind, metadata: { name: 'a' }, spec });
      expect(check(service({ ports: [{ port: 80 }] }))).toEqual([]);
      expect(check(service({ port: [] }))).toEqual(['Service a/spec: must NOT have additional properties (port)']);
      expect(check(service({ ports: [{}] }))).toEqual(["Service a/spec/ports/0: must have required property 'port'"]);
      expect(check(service({ ports: [{ port: '80' }] }))).toEqual(['Service a/spec/ports/0/port: must be integer']);
      expect(check(service({}, 'Servic'))).toEqual(['v1/Servic: no such kind']);
      const scaled = { apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', metadata: { name: 'a' } };
      expect(check({ ...scaled, spec: { scaleTargetRef: { name: 'b' }, triggers: [], pollInterval: 1 } })).toEqual([
        'ScaledObject a/spec: must NOT have additional properties (pollInterval)',
      ]);
    });
  },
);
