/**
 * The committed OpenAPI documents are those that the services serve, and none of them breaks a client of the last release.
 * `npm run contracts` writes them anew.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { breaksOfOpenApi, type OpenApiDocument } from './compare-openapi.ts';
import { openApiDocuments } from './openapi-documents.ts';
import { contractsDir, lastRelease, releasedFiles } from './released.ts';

const services = Object.keys(openApiDocuments) as (keyof typeof openApiDocuments)[];

describe.each(services)('the OpenAPI document of %s', (service) => {
  it('is the committed one', async () => {
    const document = `${JSON.stringify(await openApiDocuments[service](), null, 2)}\n`;
    await expect(document).toMatchFileSnapshot(join(contractsDir, `openapi/${service}.json`));
  });

  it('breaks no client of the last release', async () => {
    const released = JSON.parse(readFileSync(join(lastRelease(), `openapi/${service}.json`), 'utf8'));
    expect(breaksOfOpenApi(released, (await openApiDocuments[service]()) as OpenApiDocument)).toEqual([]);
  });
});

it('every service of the last release still has its document', () => {
  expect(services).toEqual(expect.arrayContaining([...releasedFiles('openapi')]));
});
