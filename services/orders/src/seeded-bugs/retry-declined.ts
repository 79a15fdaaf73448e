import type { HttpClient } from '@shop/kit/http-client.ts';

/** Seeded bug `retry-declined`: a declined payment is sent once more. */
export function retryingDeclined(client: HttpClient): HttpClient {
  return {
    ...client,
    async send(request, attempt) {
      const response = await client.send(request, attempt);
      return response.status === 402 ? client.send(request, attempt) : response;
    },
  };
}
