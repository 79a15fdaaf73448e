import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { Check } from '../check.ts';
import { EvidenceMissing, expectThat } from '../check-errors.ts';
import type { VerifyContext } from '../context.ts';

/** Longest wait for the response to a request that is refused, ms. */
const RESPONSE_LIMIT_MS = 5_000;

/** The customer of this run is found in the orders database, and nowhere else. Runs after all other checks. */
export const privacy: Check = {
  id: 'privacy',
  name: 'the customer is in no log, span, metric, event or problem',
  async run(context) {
    const stored = await countStored(context);
    // Without it, finding the marker nowhere would prove nothing.
    if (stored === 0) throw new EvidenceMissing('no order of this run was stored, so there is nothing that could leak');
    // First what may leak is sent, then it is waited until it is out, and only then is it looked for.
    const { place: errors, traceIds } = await inErrors(context);
    await delay(context.exportMs, undefined, { signal: context.signal });
    const places = await Promise.all([
      errors,
      inLogs(context),
      inTraces(context, [...context.traceIds(), ...traceIds]),
      inMetrics(context),
      inEvents(context),
    ]);
    const leaks = places.flatMap(({ leaks: found }) => found);
    const unread = places.filter(({ count }) => count === 0).map(({ what }) => what);
    expectThat(leaks.length === 0, {
      expected: 'the customer nowhere but in the orders database',
      observed: leaks.join('; '),
    });
    // Where nothing was looked through, nothing could be found.
    if (unread.length > 0) throw new EvidenceMissing(`there were no ${unread.join(' and no ')} to look through`);
    const seen = places.map(({ count, what }) => `${count} ${what}`);
    return `${stored} orders with the marker; looked through ${seen.join(', ')}`;
  },
};

interface Place {
  /** What was looked through, `spans`, and how many of them. */
  readonly what: string;
  readonly count: number;
  readonly leaks: readonly string[];
}

async function countStored({ databases, marker }: VerifyContext): Promise<number> {
  const rows = await databases.query('orders', 'SELECT id FROM orders WHERE customer = $1', [marker]);
  return rows.length;
}

/** Also an invalid request whose every text is the marker: the problem must not repeat it. */
async function inErrors({
  gateway,
  marker,
  misused,
  signal,
}: VerifyContext): Promise<{ place: Place; traceIds: readonly string[] }> {
  const lines = [{ productId: 1, quantity: 0 }];
  const invalid = { customer: marker, lines, note: marker } as const;
  const responses = await Promise.allSettled([
    gateway.placeOrder(invalid, { timeoutMs: RESPONSE_LIMIT_MS, signal }),
    misused.response(),
  ]);
  const problems = responses.flatMap((response) =>
    response.status === 'fulfilled' && response.value.kind === 'problem' ? [response.value.problem] : [],
  );
  const leaking = problems.filter((problem) => JSON.stringify(problem).includes(marker));
  const traceIds = responses.flatMap((response) =>
    response.status === 'fulfilled' && response.value.traceId !== null ? [response.value.traceId] : [],
  );
  const leaks = leaking.map(({ code }) => `problem ${code}`);
  return { place: { what: 'problems', count: problems.length, leaks }, traceIds };
}

async function inLogs({ project: { logDir }, marker }: VerifyContext): Promise<Place> {
  const files = (await readdir(logDir)).filter((name) => name.includes('.log'));
  const leaks = await Promise.all(
    files.map(async (name) => {
      for await (const line of createInterface({ input: createReadStream(join(logDir, name)) })) {
        if (line.includes(marker)) return [`log ${name}`];
      }
      return [];
    }),
  );
  return { what: 'logs', count: files.length, leaks: leaks.flat() };
}

async function inTraces({ telemetry, marker }: VerifyContext, traceIds: readonly string[]): Promise<Place> {
  const traces = await Promise.all([...new Set(traceIds)].map((traceId) => telemetry.trace(traceId)));
  const spans = traces.flatMap(({ spans: own }) => own);
  const leaking = spans.filter(({ attributes, name, statusMessage }) =>
    JSON.stringify([attributes, name, statusMessage]).includes(marker),
  );
  return { what: 'spans', count: spans.length, leaks: leaking.map(({ service, name }) => `span ${service} "${name}"`) };
}

async function inMetrics({ telemetry, marker }: VerifyContext): Promise<Place> {
  const points = await telemetry.metrics([]);
  const leaking = points.filter((point) => JSON.stringify(point).includes(marker));
  return { what: 'series', count: points.length, leaks: leaking.map(({ name }) => `metric ${name}`) };
}

async function inEvents({ databases, marker }: VerifyContext): Promise<Place> {
  const rows = await databases.query<{ text: string }>(
    'orders',
    'SELECT payload::text AS text FROM outbox WHERE order_id IN (SELECT id FROM orders WHERE customer = $1)',
    [marker],
  );
  const leaking = rows.filter(({ text }) => text.includes(marker));
  return { what: 'events', count: rows.length, leaks: leaking.map(() => 'an event in the outbox') };
}
