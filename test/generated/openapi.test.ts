import { it } from 'vitest';
import { openApiDocuments } from '../contracts/openapi-documents.ts';
import { expectGenerated } from './expect-generated.ts';

const services = Object.keys(openApiDocuments) as (keyof typeof openApiDocuments)[];

it.each(services)('the OpenAPI document of %s is the one that the service serves', async (service) => {
  const document = `${JSON.stringify(await openApiDocuments[service](), null, 2)}\n`;
  await expectGenerated(`contracts/openapi/${service}.json`, document);
});
