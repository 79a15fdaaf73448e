import { collectOpenApi } from '@shop/kit/openapi.ts';
import { catalogApi } from '../../services/catalog/src/openapi.ts';
import { addRoutes as addCatalogRoutes } from '../../services/catalog/src/routes.ts';
import { publicApi } from '../../services/gateway/src/openapi.ts';
import { ordersApi } from '../../services/orders/src/openapi.ts';
import { addOrderRoutes } from '../../services/orders/src/routes.ts';
import { paymentsApi } from '../../services/payments/src/openapi.ts';
import { addRoutes as addPaymentsRoutes } from '../../services/payments/src/routes.ts';
import { shippingApi } from '../../services/shipping/src/openapi.ts';
import { addRoutes as addShippingRoutes } from '../../services/shipping/src/routes.ts';

/** What routes work with; they are declared here and never called. */
const uncalled = {} as never;

/** The OpenAPI documents of the services that have one, as each serves it at `/openapi.json`. */
export const openApiDocuments = {
  gateway: () => collectOpenApi(publicApi, () => undefined),
  orders: () => collectOpenApi(ordersApi, (server) => addOrderRoutes(server, uncalled)),
  catalog: () => collectOpenApi(catalogApi, (server) => addCatalogRoutes(server, uncalled)),
  payments: () => collectOpenApi(paymentsApi, (server) => addPaymentsRoutes(server, uncalled)),
  shipping: () => collectOpenApi(shippingApi, (server) => addShippingRoutes(server, uncalled)),
} as const;
