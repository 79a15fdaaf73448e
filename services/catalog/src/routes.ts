import { problemResponse } from '@shop/kit/problem-api.ts';
import { ProblemError } from '@shop/kit/problems.ts';
import type { HttpServer } from '@shop/kit/server.ts';
import { Type } from 'typebox';
import { Product, type Products, parseProductId } from './products.ts';

const otherFailure = problemResponse('Any other failure');

export function addRoutes(server: HttpServer, products: Products): void {
  server.get(
    '/products',
    {
      schema: {
        summary: 'All products',
        response: { 200: Type.Object({ products: Type.Array(Product) }), default: otherFailure },
      },
    },
    async () => ({ products: [...(await products.list())] }),
  );

  server.get(
    '/products/:id',
    {
      config: { otelRoute: '/products/{id:int}' },
      schema: {
        summary: 'One product',
        params: Type.Object({ id: Type.Integer() }),
        response: { 200: Product, 404: problemResponse('There is no such product'), default: otherFailure },
      },
      // A path that names no product is "not found", not "invalid": the handler looks at the id itself.
      validatorCompiler: () => (value) => ({ value }),
    },
    async (request) => {
      const id = parseProductId(String(request.params.id));
      if (id === 'not an integer') throw new ProblemError('route_not_found', 'a product id is an integer');
      const product = id === 'out of range' ? undefined : await products.find(id);
      if (product === undefined) throw new ProblemError('product_not_found', 'no product has this id');
      return product;
    },
  );
}
