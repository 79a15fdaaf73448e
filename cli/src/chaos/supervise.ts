import type { IncomingMessage, ServerResponse } from 'node:http';
import { type CliError, type ErrorBody, toCliError } from '../errors.ts';
import { OPERATION_DONE } from '../operations/supervise.ts';
import { readJson, sendJson } from '../platform/control-api.ts';
import type { ActiveFault } from '../platform/state.ts';
import type { ExtensionContext, SupervisorExtension } from '../platform/supervisor-extension.ts';
import { createUndoLog, undoFile } from '../platform/undo-log.ts';
import { restartHungProxy } from './hung-proxy.ts';
import type { HiddenRequest, InjectRequest, Lease } from './lease.ts';
import { type HiddenLease, Leases } from './leases.ts';
import { createLivePlatform } from './live-platform.ts';
import { obstacleTo, type PlannedFault } from './preflight.ts';
import { revertHiddenOrphans } from './revert-orphaned-faults.ts';

/** One line of the response to an injection: the lease once in effect; while it is held, also its end. */
export type InjectProgress =
  | { readonly type: 'injected'; readonly lease: Lease }
  | { readonly type: 'ended'; readonly lease: Lease }
  | { readonly type: 'failed'; readonly error: ErrorBody };

/** Who has taken the faults for itself, as a drill does. */
export interface FaultOwner {
  /** Why no command may inject or end a fault now. */
  refusal(): CliError;
  /** A command asked for the faults. */
  onLook(): void;
}

/** The faults of a supervisor, for its other extensions. */
export interface ChaosExtension extends SupervisorExtension {
  injectHidden(request: HiddenRequest): Promise<HiddenLease>;
  /** Active faults of commands. */
  faults(): readonly Lease[];
  /** Undefined gives them back. */
  setOwner(owner: FaultOwner | undefined): void;
}

/**
 * The routes for faults of a supervisor. `GET /v1/chaos`: leases. `POST /v1/chaos/faults`: InjectRequest; NDJSON of
 * InjectProgress. The connection is the holder until the response, and for a held fault until its end. `POST
 * /v1/chaos/clear`: `{ids?, why?}`. `POST /v1/chaos/check`: PlannedFault[]; for each the reason why it cannot be
 * injected, or null. `POST /v1/chaos/lost`: ids; those of active faults that are not in place any more.
 */
export async function openChaos(
  context: ExtensionContext & { readonly env: NodeJS.ProcessEnv },
): Promise<ChaosExtension> {
  const { project, events, onChange } = context;
  const platform = createLivePlatform(context);
  await revertHiddenOrphans(project);
  const leases = new Leases({
    log: createUndoLog(undoFile(project)),
    platform,
    events,
    onChange,
  });
  await leases.adopt();
  let owner: FaultOwner | undefined;
  const requireFree = () => {
    if (owner !== undefined) throw owner.refusal();
  };
  restartHungProxy(context, () => leases.allUnfinished());
  // Its proxies were recreated without their toxics.
  events.follow(({ type, subject }) => {
    if (type === OPERATION_DONE) leases.lookAgain();
    if (type === 'instance.ready' && subject === 'toxiproxy') void leases.reapply();
    if (type === 'instance.ready' && (subject === 'postgres' || subject === 'rabbitmq')) {
      void leases.retryFailedUndos(`${subject} is back`);
    }
  });
  return {
    async handle(route, request, response) {
      if (route === 'GET /v1/chaos') {
        owner?.onLook();
        sendJson(response, await leases.refresh());
      } else if (route === 'POST /v1/chaos/faults') {
        requireFree();
        await streamInjection(leases, events, request, response);
      } else if (route === 'POST /v1/chaos/clear') {
        requireFree();
        const { ids, why = 'asked for' } = await readJson<{ ids?: readonly string[]; why?: string }>(request);
        sendJson(response, await leases.clear(ids ?? 'all', why));
      } else if (route === 'POST /v1/chaos/lost') {
        sendJson(response, await leases.lost(await readJson<readonly string[]>(request)));
      } else if (route === 'POST /v1/chaos/check') {
        const bodies: (ErrorBody | null)[] = [];
        for (const planned of await readJson<readonly PlannedFault[]>(request)) {
          const obstacle = await obstacleTo(planned, platform);
          bodies.push(obstacle?.toJSON() ?? null);
        }
        sendJson(response, bodies);
      } else return false;
      return true;
    },
    activeFaults: () => leases.unfinished().map(toActiveFault),
    end: () => leases.endWithPlatform(),
    injectHidden: (request) => leases.injectHidden(request),
    faults: () => leases.unfinished(),
    setOwner(wanted) {
      owner = wanted;
    },
  };
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
  const holder = new AbortController();
  response.once('close', () => {
    if (!response.writableEnded) holder.abort(new Error('the connection of the command was lost'));
  });
  const asked = await readJson<InjectRequest>(request);
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  const write = (progress: InjectProgress) => void response.write(`${JSON.stringify(progress)}\n`);
  try {
    const lease = await leases.inject(asked, holder.signal);
    write({ type: 'injected', lease });
    if (asked.hold) write({ type: 'ended', lease: await untilEnded(leases, events, lease, holder.signal) });
  } catch (error) {
    write({ type: 'failed', error: toCliError(error).toJSON() });
  } finally {
    response.end();
  }
}

/** Resolves with the lease once it is reverted or its undo has failed; an event reports its end. */
function untilEnded(
  leases: Leases,
  events: ExtensionContext['events'],
  { id }: Lease,
  holderSignal: AbortSignal,
): Promise<Lease> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const lease = leases.list().find((one) => one.id === id);
      if (lease?.status !== 'reverted' && lease?.status !== 'undo_failed') return;
      unfollow();
      resolve(lease);
    };
    const unfollow = events.follow(look);
    holderSignal.addEventListener('abort', () => {
      unfollow();
      reject(holderSignal.reason);
    });
    look();
  });
}
