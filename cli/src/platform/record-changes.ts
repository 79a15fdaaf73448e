import { toCliError } from '../errors.ts';
import type { Asked, ChangeLog } from './change-log.ts';
import { changesOfAction, changesOfOperation, changesOfUp, type Effect } from './changes-of.ts';
import type { UpRequest } from './control-client.ts';
import type { EventLog } from './events.ts';
import type { OperationOptions, OperationRequest, OperationResult } from './operations.ts';
import type { Platform, UpResult } from './platform.ts';
import { POINT_OF_NO_RETURN, pointOfNoReturn } from './platform-gate.ts';
import type { PlatformState } from './state.ts';
import type { PlatformOperation } from './supervisor-extension.ts';

/** What the control API is asked to do to the platform. */
type Operations = Pick<Platform, 'up'> & {
  act(service: string, action: 'start' | 'stop' | 'restart', asked?: Asked): Promise<void>;
  operate(operation: OperationRequest, options: OperationOptions): Promise<OperationResult>;
  down(timeoutMs: number | undefined, asked?: Asked): Promise<void>;
};

export interface RecordedOperations {
  readonly platform: Pick<Platform, 'up' | 'act' | 'operate' | 'plan'>;
  readonly events: EventLog;
  readonly changes: ChangeLog;
  state(): PlatformState;
  down(timeoutMs: number | undefined): Promise<void>;
  /** Why it cannot be done now. */
  obstacleTo?(operation: PlatformOperation): Error | undefined;
}

/** Clients of another version do not say who asks. */
const ANYBODY: Asked = { by: { user: 'unknown', source: 'unknown' } };

/**
 * What operators ask for, with a line in the change log for each effect that it had, also where it failed. What a fault
 * does to the platform, and a restart after a crash, does not come through here.
 */
export function recordOperations({
  platform,
  events,
  changes,
  state,
  down,
  obstacleTo,
}: RecordedOperations): Operations {
  let turn: Promise<unknown> = Promise.resolve();

  /** One after the other, as the platform takes them: each is compared with the state in which it began. */
  function inTurn<T>(operation: PlatformOperation, work: () => Promise<T>): Promise<T> {
    const result = turn.then(() => {
      const obstacle = obstacleTo?.(operation);
      if (obstacle !== undefined) throw obstacle;
      return work();
    });
    // The next one begins whether this one succeeded or not; its failure is reported to its caller.
    turn = result.catch(() => undefined);
    return result;
  }

  async function recorded<T>(
    { by, reason }: Asked = ANYBODY,
    work: () => Promise<T>,
    effects: (before: PlatformState, result: T | undefined) => readonly Effect[],
  ): Promise<T> {
    const before = state();
    const beganAt = new Date().toISOString();
    const record = (result: T | undefined, failed?: string) =>
      changes.append(
        ...effects(before, result).map((effect) => ({
          ...effect,
          by,
          beganAt,
          ...(reason !== undefined && { reason }),
          ...(failed !== undefined && { failed }),
        })),
      );
    let result: T;
    try {
      result = await work();
    } catch (error) {
      await record(undefined, toCliError(error).code);
      throw error;
    }
    await record(result);
    return result;
  }

  async function up(request: UpRequest, signal: AbortSignal): Promise<UpResult> {
    const { plan } = platform;
    const replaced = new Set<string>();
    const applied: string[] = [];
    const pointsOfNoReturn: Effect[] = [];
    const unfollow = events.follow(({ type, subject, message }) => {
      if (type === 'instance.retired') replaced.add(subject);
      if (type === POINT_OF_NO_RETURN) pointsOfNoReturn.push(pointOfNoReturn(subject, message));
      if (type === 'instance.refreshed') applied.push(message.replace(/^applied /, ''));
    });
    try {
      return await recorded(
        request.asked,
        () => platform.up(request, signal),
        (before) => {
          // One that could not be planned has changed no settings.
          const settings = platform.plan === plan ? [] : (platform.plan?.changedSettings ?? []);
          return changesOfUp(before, state(), { settings, applied, pointsOfNoReturn, replaced });
        },
      );
    } finally {
      unfollow();
    }
  }

  return {
    up: (request, signal) => inTurn({ kind: 'up' }, () => up(request, signal)),
    act: (service, action, asked) =>
      inTurn({ kind: 'act', name: service }, () =>
        recorded(
          asked,
          () => platform.act(service, action),
          (before) => changesOfAction(action, service, before.instances, state().instances),
        ),
      ),
    operate: (operation, { asked, dryRun }) =>
      inTurn(operation, () =>
        recorded(
          asked,
          () => platform.operate(operation, { dryRun }),
          (before) => changesOfOperation(operation, before, state()),
        ),
      ),
    // Ends an `up` that is in progress, and so does not wait for it.
    down: (timeoutMs, asked) =>
      recorded(
        asked,
        () => down(timeoutMs),
        ({ status }) =>
          status === 'stopped' ? [] : [{ kind: 'stop', target: 'platform', from: status, to: state().status }],
      ),
  };
}
