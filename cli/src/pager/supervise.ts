import type { ServerResponse } from 'node:http';
import { CliError } from '../errors.ts';
import { printable } from '../output/printable.ts';
import { type Asked, type Change, createChangeLog } from '../platform/change-log.ts';
import { readJson, sendJson } from '../platform/control-api.ts';
import type { ExtensionContext, SupervisorExtension } from '../platform/supervisor-extension.ts';
import { describeWebhook, webhookSettings } from '../platform/webhook-settings.ts';
import { createAlertmanagerApi } from './alertmanager/api.ts';
import type { PagerEvent } from './page-event.ts';
import { createPager, type Pager } from './pager.ts';
import type { AcknowledgeRequest, SilenceRequest, UnsilenceRequest } from './pager-client.ts';
import { openPagerJournal, pagerFiles } from './pager-journal.ts';
import { showAlert, showSilence, viewPager, writeMatchers } from './pager-view.ts';
import { BadSilenceError, type Silence } from './silence.ts';
import { startWebhook } from './webhook.ts';

const LOOK_EVERY_MS = 500;

/** The pager's Prometheus, in the words of components. */
const PROMETHEUS = 'prometheus';

/** The pager of a supervisor, for its other extensions. */
export interface PagerExtension extends SupervisorExtension {
  readonly pager: Pick<Pager, 'alerts' | 'follow'>;
}

/**
 * Takes alerts on the telemetry address as Alertmanager does, and remembers them in the project's folder. Routes of the control API:
 * `GET /v1/pager` (PagerView), `GET /v1/pager/events` (NDJSON of PagerNews), `POST /v1/pager/acknowledge`,
 * `POST /v1/pager/silence`, `POST /v1/pager/unsilence`.
 */
export async function openPager(
  context: ExtensionContext & { readonly env: NodeJS.ProcessEnv },
): Promise<PagerExtension> {
  const { project, events, env, state } = context;
  const report = (problem: string) => {
    console.error(`supervisor: pager: ${problem}`);
    events.add('pager.problem', 'pager', problem);
  };
  const settings = webhookSettings(env);
  const { state: kept, journal } = await openPagerJournal(pagerFiles(project), report);
  const pager = createPager({
    state: kept,
    journal,
    now: Date.now,
    report,
    delivers: settings !== undefined,
    isPipelineExpected() {
      const prometheus = state().instances.find(({ service }) => service === PROMETHEUS);
      return prometheus === undefined ? undefined : prometheus.status !== 'stopped';
    },
  });
  const webhook = settings && startWebhook({ settings, project: project.name, pager, report });
  const changes = createChangeLog(project, report);
  const unfollow = pager.follow((event) => {
    const message = describeEvent(event);
    if (message !== undefined) events.add(`pager.${event.type}`, subjectOf(event), message);
  });
  context.serve(
    createAlertmanagerApi({
      pager,
      now: Date.now,
      // Clients of this API state who they are in the silence itself.
      onSilence: (did, silence) =>
        changes.append(
          silenceChange(did, silence, {
            by: { user: printable(silence.createdBy) || 'unknown', source: 'Alertmanager API' },
            reason: printable(silence.comment),
          }),
        ),
    }),
  );
  const following = new Set<ServerResponse>();
  const looking = setInterval(() => void pager.tick(), LOOK_EVERY_MS);

  const view = () => viewPager(pager, Date.now(), settings && describeWebhook(settings));

  async function acknowledge({ fingerprints, note, asked }: AcknowledgeRequest) {
    const acknowledged = await pager.acknowledge(fingerprints, asked.by.user, note);
    await changes.append(
      ...acknowledged.map(({ alert }): Change => {
        const target = printable(alert.labels.alertname ?? alert.fingerprint);
        const reason = note === undefined ? {} : { reason: note };
        return { kind: 'acknowledge', target, from: 'firing', to: 'acknowledged', by: asked.by, ...reason };
      }),
    );
    const known = new Set(acknowledged.map(({ alert }) => alert.fingerprint));
    return {
      acknowledged: pager
        .alerts()
        .filter(({ alert }) => known.has(alert.fingerprint))
        .map(showAlert),
    };
  }

  async function silence({ matchers, forMs, reason, asked }: SilenceRequest) {
    const nowMs = Date.now();
    const times = { startsAtMs: nowMs, endsAtMs: nowMs + forMs };
    const set = await pager
      .setSilence({ matchers, ...times, createdBy: asked.by.user, comment: reason, annotations: {} })
      .catch(throwExplained);
    await changes.append(silenceChange('created', set, { ...asked, reason }));
    return { silence: showSilence(set, Date.now()) };
  }

  async function unsilence({ ids, asked }: UnsilenceRequest) {
    const ended: Silence[] = [];
    for (const one of pager.silences().filter(({ id }) => ids.includes(id)))
      if (await pager.expireSilence(one.id)) ended.push(one);
    await changes.append(...ended.map((one) => silenceChange('ended', one, asked)));
    return { ended: ended.map(({ id }) => id) };
  }

  return {
    pager,
    async handle(route, request, response) {
      if (route === 'GET /v1/pager') {
        sendJson(response, view());
      } else if (route === 'POST /v1/pager/acknowledge') {
        sendJson(response, await acknowledge(await readJson<AcknowledgeRequest>(request)));
      } else if (route === 'POST /v1/pager/silence') {
        sendJson(response, await silence(await readJson<SilenceRequest>(request)));
      } else if (route === 'POST /v1/pager/unsilence') {
        sendJson(response, await unsilence(await readJson<UnsilenceRequest>(request)));
      } else if (route === 'GET /v1/pager/events') {
        response.writeHead(200, { 'content-type': 'application/x-ndjson' });
        response.write(`${JSON.stringify({ type: 'now', ...view() })}\n`);
        const leave = pager.follow((event) => void response.write(`${JSON.stringify(event)}\n`));
        following.add(response);
        response.once('close', () => {
          leave();
          following.delete(response);
        });
      } else return false;
      return true;
    },
    activeFaults: () => [],
    async end() {
      clearInterval(looking);
      for (const response of following) response.end();
      unfollow();
      await webhook?.close();
      await pager.close();
    },
  };
}

function throwExplained(error: unknown): never {
  if (error instanceof BadSilenceError)
    throw new CliError({ code: 'invalid_argument', what: 'this silence cannot be', why: error.message, cause: error });
  throw error;
}

function silenceChange(did: 'created' | 'ended', silence: Silence, asked: Asked): Change {
  const until = `until ${new Date(silence.endsAtMs).toISOString()}`;
  const [from, to] = did === 'created' ? [null, until] : [until, null];
  return { kind: 'silence', target: printable(writeMatchers(silence.matchers)), from, to, ...asked };
}

function subjectOf(event: PagerEvent): string {
  return 'alertname' in event ? printable(event.alertname) : 'pager';
}

/** What a reader of the platform's events has to know. */
function describeEvent(event: PagerEvent): string | undefined {
  switch (event.type) {
    case 'notified':
      return `page: ${printable(event.summary ?? event.alertname)}`;
    case 'escalated':
      return `page without acknowledgement: ${printable(event.summary ?? event.alertname)}`;
    case 'acknowledged':
      return `acknowledged by ${printable(event.by)}`;
    case 'resolved':
      if (event.severity !== 'page') return undefined;
      return event.unreported ? 'resolved: it is not reported any more' : 'resolved';
    case 'pipeline':
      return event.status === 'lost' ? `alerts do not arrive: ${event.why}` : event.why;
    default:
      return undefined;
  }
}
