import type { IncomingMessage, ServerResponse } from 'node:http';
import { type CliError, toCliError } from '../errors.ts';
import { answer, readJson } from '../platform/control-api.ts';
import type { ErrorBody } from '../platform/control-client.ts';
import type { ActiveFault } from '../platform/state.ts';
import type { ExtensionContext, SupervisorExtension } from '../platform/supervisor-extension.ts';
import { createUndoLog, undoFile } from '../platform/undo-log.ts';
import { restartHungProxy } from './hung-proxy.ts';
import type { InjectRequest, Lease } from './lease.ts';
import { Leases } from './leases.ts';
import { createLiveWorld } from './live-world.ts';
import { obstacleTo, type PlannedFault } from './preflight.ts';

/** One line of the answer to an injection: the lease once in effect; while it is held, also its end. */
export type InjectProgress =
  | { readonly type: 'injected'; readonly lease: Lease }
  | { readonly type: 'ended'; readonly lease: Lease }
  | { readonly type: 'failed'; readonly error: ErrorBody };

/**
 * Faults of a supervisor: `GET /v1/chaos` (leases), `POST /v1/chaos/faults` (InjectRequest; NDJSON of InjectProgress; the
 * connection is the holder until the answer, and for a held fault until its end), `POST /v1/chaos/clear` (`{ids?, why?}`),
 * `POST /v1/chaos/check` (PlannedFault[]; for each why it cannot be injected, or null), `POST /v1/chaos/lost` (ids;
 * those of active faults that are not in place any more).
 */
export async function openChaos(
  context: ExtensionContext & { readonly env: NodeJS.ProcessEnv },
): Promise<SupervisorExtension> {
  const { project, events, onChange } = context;
  const world = createLiveWorld(context);
  const leases = new Leases({
    log: createUndoLog(undoFile(project)),
    world,
    events,
    onChange,
  });
  await leases.adopt();
  restartHungProxy(context, () => leases.unfinished());
  // Its proxies were made anew, without what faults had added.
  events.follow(({ type, subject }) => {
    if (type === 'instance.ready' && subject === 'toxiproxy') void leases.reapply();
    if (type === 'instance.ready' && (subject === 'postgres' || subject === 'rabbitmq')) {
      void leases.retryRemains(`${subject} is back`);
    }
  });
  return {
    async handle(route, request, response) {
      if (route === 'GET /v1/chaos') answer(response, await leases.refresh());
      else if (route === 'POST /v1/chaos/faults') await streamInjection(leases, events, request, response);
      else if (route === 'POST /v1/chaos/clear') {
        const { ids, why = 'asked for' } = await readJson<{ ids?: readonly string[]; why?: string }>(request);
        answer(response, await leases.clear(ids ?? 'all', why));
      } else if (route === 'POST /v1/chaos/lost') {
        answer(response, await leases.lost(await readJson<readonly string[]>(request)));
      } else if (route === 'POST /v1/chaos/check') {
        const answers: (ErrorBody | null)[] = [];
        for (const planned of await readJson<readonly PlannedFault[]>(request)) {
          const obstacle = await obstacleTo(planned, world);
          answers.push(obstacle === undefined ? null : bodyOf(obstacle));
        }
        answer(response, answers);
      } else return false;
      return true;
    },
    activeFaults: () => leases.unfinished().map(toActiveFault),
    end: () => leases.endWithPlatform(),
  };
}

function bodyOf({ what, why, next, exitCode }: CliError): ErrorBody {
  return { what, ...(why && { why }), ...(next && { next }), exitCode };
}

function toActiveFault({ id, fault, target, status, expiresAt }: Lease): ActiveFault {
  return { id, fault, target, status: status as ActiveFault['status'], expiresAt };
}

async function streamInjection(
  leases: Leases,
  events: ExtensionContext['events'],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableEnded) gone.abort(new Error('the command that asked for it went away'));
  });
  const asked = await readJson<InjectRequest>(request);
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  const write = (progress: InjectProgress) => void response.write(`${JSON.stringify(progress)}\n`);
  try {
    const lease = await leases.inject(asked, gone.signal);
    write({ type: 'injected', lease });
    if (asked.hold) write({ type: 'ended', lease: await untilEnded(leases, events, lease, gone.signal) });
  } catch (error) {
    write({ type: 'failed', error: bodyOf(toCliError(error)) });
  } finally {
    response.end();
  }
}

/** Resolves with the lease once it is healed or remains; its end is told as an event. */
function untilEnded(
  leases: Leases,
  events: ExtensionContext['events'],
  { id }: Lease,
  gone: AbortSignal,
): Promise<Lease> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const lease = leases.list().find((one) => one.id === id);
      if (lease?.status !== 'healed' && lease?.status !== 'remains') return;
      unfollow();
      resolve(lease);
    };
    const unfollow = events.follow(look);
    gone.addEventListener('abort', () => {
      unfollow();
      reject(gone.reason);
    });
    look();
  });
}
