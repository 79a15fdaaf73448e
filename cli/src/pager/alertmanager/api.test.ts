/*
 * Goal: clients of Alertmanager's API v2 find what they know.
 * Method: requests that were recorded with the responses of Alertmanager 0.25 (Debian 12), sent in their order to a real socket. The
 * clock goes on by 1 ms with each. `@+60` is 60 s after the first; `$first` is an id that a response had before. Names of receivers, and
 * which alerts they get, were edited: they follow dashboards/alertmanager.yml. Newer versions respond to some with more fields or in
 * other words: `newer` has those, from the sources of 0.34.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OtlpReceiver, startOtlpReceiver } from '../../otlp/receiver.ts';
import { createPager } from '../pager.ts';
import { emptyState } from '../pager-state.ts';
import { memoryJournal } from '../testing/memory-journal.ts';
import { createAlertmanagerApi } from './api.ts';
import recorded from './recorded.json' with { type: 'json' };

interface Exchange {
  readonly title: string;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly save?: string;
  readonly status: number;
  readonly type?: string;
  readonly allow?: string;
  readonly response?: unknown;
}

const NOW_MS = Date.parse('2026-11-24T05:00:00.000Z');
const everything = 'invalid silence: matcher set 0: at least one matcher must not match the empty string';
const exchanges = recorded as readonly Exchange[];

/** What newer versions respond, by title. */
const newer: Readonly<Record<string, Partial<Exchange>>> = {
  // Label names of any characters are taken since 0.27.
  'alert of a label name with a dash': { status: 200, type: undefined, response: undefined },
  'alert of an annotation name with a dash': { status: 200, type: undefined, response: undefined },
  'two bad alerts': { response: 'at least one label pair required\nstart time must be before end time' },
  'alerts of a matcher in braces': { response: 'unexpected open or close brace: {a="b"}' },
  'silence of everything': { response: everything },
  'silence of every pattern': { response: everything },
  'silence of no name': { response: 'invalid silence: invalid label matcher 0 in set 0: invalid label name ""' },
  'silence of a bad pattern': {
    response:
      'invalid silence: invalid label matcher 0 in set 0: invalid regular expression "(?=x)": error parsing regexp: ' +
      'invalid or unsupported Perl syntax: `(?=`',
  },
  'end of a silence that is not there': { status: 404, type: undefined, response: undefined },
};

let nowMs = NOW_MS;
let receiver: OtlpReceiver;
const ids: Record<string, string> = {};

beforeAll(async () => {
  receiver = await startOtlpReceiver({ host: '127.0.0.1', port: 0 });
  const pager = createPager({
    state: emptyState(),
    journal: memoryJournal(),
    now: () => nowMs,
    report: (problem) => expect.fail(problem),
    delivers: false,
    isPipelineExpected: () => undefined,
  });
  receiver.serve(createAlertmanagerApi({ pager, now: () => nowMs, onSilence: async () => undefined }));
});
afterAll(() => receiver.close());

describe('the pager, as Alertmanager', () => {
  it.each(exchanges)('$method $path: $title', async (exchange) => {
    nowMs += 1;
    const expected = { ...exchange, ...newer[exchange.title] };
    const response = await send(exchange);
    const text = await response.text();
    const body = text === '' ? undefined : expected.type === 'application/json' ? JSON.parse(text) : text;
    if (exchange.save !== undefined) ids[exchange.save] = body.silenceID;
    expect({
      status: response.status,
      type: response.headers.get('content-type') ?? undefined,
      allow: response.headers.get('allow')?.split(',').toSorted().join(),
    }).toEqual({ status: expected.status, type: expected.type, allow: expected.allow });
    expect(hide(body)).toEqual(expectation(expected.response));
  });
});

function send({ method, path, body }: Exchange): Promise<Response> {
  const { $raw: raw, $type: type = 'application/json' } = (body ?? {}) as { $raw?: string; $type?: string };
  const text = raw ?? (body === undefined ? undefined : fill(JSON.stringify(body)));
  return fetch(`${receiver.url}${fill(path)}`, {
    method,
    headers: type === '' ? {} : { 'content-type': type },
    ...(text !== undefined && { body: new TextEncoder().encode(text) }),
  });
}

function fill(text: string): string {
  return text
    .replace(/@([+-]\d+)/g, (_, seconds) => new Date(NOW_MS + Number(seconds) * 1000).toISOString())
    .replace(/\$(first|second|third)/g, (_, name) => ids[name] ?? 'unknown');
}

/** What differs from run to run becomes what the recording has in its place. */
function hide(value: unknown): unknown {
  if (value === undefined) return undefined;
  const names = Object.fromEntries(Object.entries(ids).map(([name, id]) => [id, `$${name}`]));
  const text = JSON.stringify(value)
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (time) => {
      const seconds = Math.round((Date.parse(time) - NOW_MS) / 1000);
      return `@${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}`;
    })
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => names[id] ?? '<id>');
  return JSON.parse(text);
}

/** Objects may have more fields. What Go says about a body that it cannot parse is its own. */
function expectation(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(expectation);
  if (typeof value !== 'object' || value === null) return value;
  const { message } = value as { message?: string };
  const because = typeof message === 'string' ? /^parsing .* because /.exec(message)?.[0] : undefined;
  if (because !== undefined) return { ...value, message: expect.stringContaining(because) };
  return expect.objectContaining(
    Object.fromEntries(Object.entries(value).map(([key, one]) => [key, expectation(one)])),
  );
}
