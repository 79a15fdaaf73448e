import type { OpenApiOptions } from '@shop/kit/openapi.ts';

/** What the document says of the whole service; the rest is collected from its routes. */
export const ordersApi = {
  openapi: { openapi: '3.1.0', info: { title: 'Orders', version: '1.0.0', description: 'Places and shows orders' } },
} satisfies OpenApiOptions;
