import type { HttpServer } from '@shop/kit/server.ts';
import { SHADOW_OUTCOMES_PATH } from '@shop/kit/shadow.ts';
import { Type } from 'typebox';
import type { Shadow } from './shadow.ts';

/** For whatever compares outcomes; no part of the service's interface. */
export function addShadowRoutes(server: HttpServer, shadow: Pick<Shadow, 'outcomesAfter'>): void {
  const schema = { querystring: Type.Object({ after: Type.String({ pattern: '^\\d{1,9}$' }) }) };
  server.get(SHADOW_OUTCOMES_PATH, { schema }, async ({ query }) => ({
    outcomes: shadow.outcomesAfter(Number(query.after)),
  }));
}
