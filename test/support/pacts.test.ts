import { afterEach, beforeEach, expect, it } from 'vitest';
import { type PactRecording, recordPact } from './pacts.ts';

let recording: PactRecording;
beforeEach(async () => {
  // No such contract is committed.
  recording = await recordPact('stock', 'gateway');
});
afterEach(() => recording[Symbol.asyncDispose]());

function record(path: string, ask: (url: string) => Promise<unknown>): Promise<unknown> {
  return recording.pact
    .addInteraction()
    .uponReceiving(`a request for ${path}`)
    .withRequest('GET', path)
    .willRespondWith(200)
    .executeTest(({ url }) => ask(url));
}

it('refuses to write a contract without the interactions whose tests failed', async () => {
  await record('/one', (url) => fetch(`${url}/one`));
  await expect(record('/two', () => Promise.reject(new Error('too late')))).rejects.toThrow();
  await expect(recording.expectCommitted()).rejects.toThrow('1 of 2 interactions of stock-gateway.json were recorded');
});
