import type { IncomingMessage } from 'node:http';
import type { Guest, GuestResponse } from '../../otlp/guest.ts';
import type { Matcher } from '../matcher.ts';
import { type Pager, TooManyAlertsError } from '../pager.ts';
import { BadMatcherError, parseMatcher } from '../parse-matcher.ts';
import { BadPatternError, compilePattern, type Pattern } from '../pattern.ts';
import { type AskedSilence, BadSilenceError, NoSuchSilenceError, type Silence, silenceStateOf } from '../silence.ts';
import { type AlertQuery, isAskedFor, RECEIVERS, readAlerts, writeAlert, writeGroups } from './alerts.ts';
import { readJsonBody } from './read-body.ts';
import { empty, invalid, json, notAllowed, RefusedError, refused, text } from './responses.ts';
import { hasMatchers, readSilence, sortSilences, writeSilence } from './silences.ts';
import { writeStatus } from './status.ts';

export interface AlertmanagerApi {
  readonly pager: Pager;
  /** ms since 1970. */
  readonly now: () => number;
  /** A client has silenced, or ended a silence; not called where nothing has changed. */
  onSilence(did: 'created' | 'ended', silence: Silence): Promise<void>;
}

interface Call {
  readonly request: IncomingMessage;
  readonly query: URLSearchParams;
  /** What stands in the path. */
  readonly id: string;
}

type Route = (call: Call) => Promise<GuestResponse>;
type Routes = Readonly<Record<string, Readonly<Record<string, Route>>>>;

const SILENCE = /^\/api\/v2\/silence\/([^/]+)$/;
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

/**
 * Alertmanager's API v2 as its OpenAPI document describes it (0.34), so that Prometheus' `alerting:` and `amtool --alertmanager.url`
 * point here. Source: prometheus/alertmanager, `api/v2/openapi.yaml` and `api/v2/api.go`.
 */
export function createAlertmanagerApi(api: AlertmanagerApi): Guest {
  const startedAtMs = api.now();
  const ok: Route = async () => text('OK');
  const routes: Routes = {
    '/-/ready': { GET: ok, HEAD: ok },
    '/-/healthy': { GET: ok, HEAD: ok },
    '/api/v2/status': { GET: async () => json(writeStatus(startedAtMs)) },
    '/api/v2/receivers': { GET: async ({ query }) => receivers(query) },
    '/api/v2/alerts': { POST: ({ request }) => postAlerts(api, request), GET: ({ query }) => getAlerts(api, query) },
    '/api/v2/alerts/groups': { GET: ({ query }) => getGroups(api, query) },
    '/api/v2/silences': {
      POST: ({ request }) => postSilence(api, request),
      GET: ({ query }) => getSilences(api, query),
    },
  };
  const ofSilence: Readonly<Record<string, Route>> = {
    DELETE: ({ id }) => deleteSilence(api, id),
    GET: ({ id }) => getSilence(api, id),
  };
  return (request) => {
    const [path = '', query = ''] = (request.url ?? '').split(/\?(.*)/s);
    if (!path.startsWith('/api/v2/') && !path.startsWith('/-/')) return undefined;
    const id = SILENCE.exec(path)?.[1];
    const methods = id !== undefined ? ofSilence : Object.hasOwn(routes, path) ? routes[path] : undefined;
    return respond({ request, query: new URLSearchParams(query), id: id ?? '' }, path, methods);
  };
}

async function respond(call: Call, path: string, methods: Readonly<Record<string, Route>> | undefined) {
  if (methods === undefined) return json({ code: 404, message: `path ${path} was not found` }, 404);
  const { method = '' } = call.request;
  const route = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (route === undefined) return notAllowed(method, Object.keys(methods));
  try {
    return await route(call);
  } catch (error) {
    if (error instanceof RefusedError) return error.response;
    throw error;
  }
}

async function postAlerts({ pager }: AlertmanagerApi, request: IncomingMessage): Promise<GuestResponse> {
  const { alerts, problems } = readAlerts(await readJsonBody(request, 'alerts'));
  try {
    await pager.receive(alerts);
  } catch (error) {
    if (error instanceof TooManyAlertsError) throw refused(400, error.message);
    throw error;
  }
  if (problems.length > 0) throw refused(400, problems.join('\n'));
  return empty();
}

async function getAlerts({ pager }: AlertmanagerApi, query: URLSearchParams): Promise<GuestResponse> {
  const asked = alertQuery(query);
  return json(
    pager
      .alerts()
      .filter((view) => isAskedFor(view, asked))
      .map(writeAlert),
  );
}

async function getGroups({ pager }: AlertmanagerApi, query: URLSearchParams): Promise<GuestResponse> {
  const asked = alertQuery(query);
  return json(writeGroups(pager.alerts().filter((view) => isAskedFor(view, asked))));
}

function receivers(query: URLSearchParams): GuestResponse {
  const matchers = readMatchers(query, 'receiver_matchers', 'failed to parse receiver_matchers param: ');
  const isAsked = matchers.every(({ matches }) => matches(''));
  return json(isAsked ? RECEIVERS.map((name) => ({ name, labels: {} })) : []);
}

async function postSilence(api: AlertmanagerApi, request: IncomingMessage): Promise<GuestResponse> {
  const asked = readSilence(await readJsonBody(request, 'silence'), api.now());
  const silence = await setSilence(api, asked);
  await api.onSilence('created', silence);
  return json({ silenceID: silence.id });
}

async function setSilence({ pager }: AlertmanagerApi, asked: AskedSilence): Promise<Silence> {
  try {
    return await pager.setSilence(asked);
  } catch (error) {
    if (error instanceof NoSuchSilenceError) throw refused(404, error.message);
    if (error instanceof BadSilenceError) throw refused(400, error.message);
    throw error;
  }
}

async function getSilences({ pager, now }: AlertmanagerApi, query: URLSearchParams): Promise<GuestResponse> {
  const matchers = readMatchers(query, 'filter');
  const nowMs = now();
  const states = (['active', 'pending', 'expired'] as const).filter((state) => isOn(query, state));
  const asked = pager
    .silences()
    .filter((silence) => states.includes(silenceStateOf(silence, nowMs)) && hasMatchers(silence, matchers));
  return json(sortSilences(asked, nowMs).map((silence) => writeSilence(silence, nowMs)));
}

async function getSilence({ pager, now }: AlertmanagerApi, id: string): Promise<GuestResponse> {
  checkId(id);
  const silence = pager.silences().find((one) => one.id === id);
  return silence === undefined ? empty(404) : json(writeSilence(silence, now()));
}

async function deleteSilence({ pager, onSilence }: AlertmanagerApi, id: string): Promise<GuestResponse> {
  checkId(id);
  const silence = pager.silences().find((one) => one.id === id);
  if (silence === undefined) return empty(404);
  if (await pager.expireSilence(id)) await onSilence('ended', silence);
  return empty();
}

function checkId(id: string): void {
  if (!UUID.test(id)) throw invalid(422, 601, `silenceID in path must be of type uuid: ${JSON.stringify(id)}`);
}

function alertQuery(query: URLSearchParams): AlertQuery {
  return {
    matchers: readMatchers(query, 'filter'),
    receiver: readReceiver(query.get('receiver')),
    receiverMatchers: readMatchers(query, 'receiver_matchers', 'failed to parse receiver_matchers param: '),
    active: isOn(query, 'active'),
    silenced: isOn(query, 'silenced'),
    inhibited: isOn(query, 'inhibited'),
    muted: isOn(query, 'muted'),
  };
}

function readMatchers(query: URLSearchParams, name: string, prefix = ''): readonly Matcher[] {
  try {
    return query.getAll(name).map(parseMatcher);
  } catch (error) {
    if (error instanceof BadMatcherError || error instanceof BadPatternError)
      throw refused(400, `${prefix}${error.message}`);
    throw error;
  }
}

function readReceiver(text: string | null): Pattern | undefined {
  if (text === null || text === '') return undefined;
  try {
    return compilePattern(text);
  } catch (error) {
    if (error instanceof BadPatternError) throw refused(400, `failed to parse receiver param: ${error.message}`);
    throw error;
  }
}

/** Anything else than a word for yes is a no. Source: go-openapi/swag, `ConvertBool`. */
const YES = ['true', '1', 'yes', 'ok', 'y', 'on', 'selected', 'checked', 't', 'enabled'];

function isOn(query: URLSearchParams, name: string): boolean {
  const text = query.get(name);
  return text === null || text === '' || YES.includes(text.toLowerCase());
}
