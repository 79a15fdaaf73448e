/**
 * No OpenAPI document breaks a client of the last release.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allowedBreaks } from './allowed-breaks.ts';
import { breaksOfOpenApi, type OpenApiDocument } from './compare-openapi.ts';
import { openApiDocuments } from './openapi-documents.ts';
import { lastRelease, releasedFiles } from './released.ts';

const services = Object.keys(openApiDocuments) as (keyof typeof openApiDocuments)[];

describe('an OpenAPI document', () => {
  it.each(services.filter((service) => releasedFiles('openapi').includes(service)))(
    'of %s breaks no client of the last release, and what is allowed to differ does',
    async (service) => {
      const released = JSON.parse(readFileSync(join(lastRelease(), `openapi/${service}.json`), 'utf8'));
      const breaks = breaksOfOpenApi(released, (await openApiDocuments[service]()) as OpenApiDocument);
      expect(breaks.toSorted()).toEqual(Object.keys(allowedBreaks[service] ?? {}).toSorted());
    },
  );
});

it('every service of the last release still has its document', () => {
  expect(services).toEqual(expect.arrayContaining([...releasedFiles('openapi')]));
});
