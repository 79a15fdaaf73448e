import type { AttemptOutcome } from '@shop/kit/attempt-outcomes.ts';
import type { Deadline } from '@shop/kit/deadline.ts';
import { PermanentError } from '@shop/kit/failures.ts';
import type { HttpClient, HttpResponse } from '@shop/kit/http-client.ts';
import type { HttpReplica } from '@shop/kit/http-replica.ts';
import type { CallPolicy } from '@shop/kit/resilience.ts';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

export interface Product {
  readonly id: number;
  readonly priceKopiykas: number;
  readonly currency: string;
}

export interface Catalog {
  /** The product, undefined when there is none. Rejects with CallUnavailableError when the catalog gave no response. */
  findProduct(id: number, deadline: Deadline): Promise<Product | undefined>;
}

/** Unknown fields pass: the catalog may add some. What costs nothing does not: a total of 0 cannot be charged. */
const ProductBody = Compile(
  Type.Object({ id: Type.Integer(), price: Type.Integer({ minimum: 1 }), currency: Type.String() }),
);

function outcomeOf({ status }: HttpResponse): AttemptOutcome {
  if (status === 404) return 'absent';
  return status === 200 ? 'ok' : 'rejected';
}

export function createCatalog(client: HttpClient, policy: CallPolicy<HttpReplica>): Catalog {
  return {
    async findProduct(id, deadline) {
      const { status, body } = await policy.execute({ deadline, idempotent: true, outcomeOf }, (attempt) =>
        client.send({ method: 'GET', path: `/products/${id}` }, attempt),
      );
      if (status === 404) return undefined;
      if (status !== 200 || !ProductBody.Check(body))
        throw new PermanentError(`catalog: unexpected response ${status}`);
      return { id: body.id, priceKopiykas: body.price, currency: body.currency };
    },
  };
}
