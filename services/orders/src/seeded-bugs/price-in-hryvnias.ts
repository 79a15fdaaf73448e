import type { Catalog } from '../catalog-client.ts';

/** Seeded bug `price-in-hryvnias`: a price is taken for hryvnias, a hundredth of its kopiykas, and 1 at least. */
export function pricingInHryvnias(catalog: Catalog): Catalog {
  return {
    async findProduct(id, deadline) {
      const product = await catalog.findProduct(id, deadline);
      return product && { ...product, priceKopiykas: Math.max(1, Math.round(product.priceKopiykas * 0.01)) };
    },
  };
}
