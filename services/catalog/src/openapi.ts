import type { OpenApiOptions } from '@shop/kit/openapi.ts';

/** What the document says of the whole service; the rest is collected from its routes. */
export const catalogApi = {
  openapi: { openapi: '3.1.0', info: { title: 'Catalog', version: '1.0.0', description: 'Products and prices' } },
} satisfies OpenApiOptions;
