import type { OpenApiOptions } from '@shop/kit/openapi.ts';

/** What the document says of the whole service; the rest is collected from its routes. */
export const shippingApi = {
  openapi: { openapi: '3.1.0', info: { title: 'Shipping', version: '1.0.0', description: 'Shows shipments' } },
} satisfies OpenApiOptions;
