import { messageOf } from '../../errors.ts';
import type { ControlClient } from '../../platform/control-client.ts';
import type { PlatformEvent } from '../../platform/events.ts';

/** What happened to processes since the run began, as the supervisor reports it. */
export interface ProcessEvents {
  /** Undefined while everything was heard; otherwise why not. */
  gap(): string | undefined;
  /** Everything that was reported of processes, in its order. */
  all(): readonly PlatformEvent[];
  /** A process ended that was meant to run. */
  exits(): readonly PlatformEvent[];
  /** A process was started, for the first time or again. */
  starts(): readonly PlatformEvent[];
  close(): void;
}

interface Followers {
  onEvent(event: PlatformEvent): void;
  /** The platform has lost its supervisor, or is being taken down: called once, with why. */
  onLost(why: string): void;
}

/** Follows the supervisor's events from now on. */
export function followProcesses(
  control: Pick<ControlClient, 'events'>,
  since: number,
  { onEvent, onLost }: Followers,
): ProcessEvents {
  const over = new AbortController();
  const heard: PlatformEvent[] = [];
  let gap: string | undefined;
  const lose = (why: string) => {
    if (gap !== undefined || over.signal.aborted) return;
    gap = why;
    onLost(why);
  };
  const follow = async () => {
    for await (const event of control.events({ follow: true, signal: over.signal })) {
      // The supervisor reports what it remembers first.
      if (Date.parse(event.time) < since) continue;
      heard.push(event);
      onEvent(event);
      if (event.type === 'platform.stopping') lose('the platform was taken down');
    }
    lose('the supervisor ended');
  };
  follow().catch((error: unknown) => lose(`the supervisor was lost: ${messageOf(error)}`));
  return {
    gap: () => gap,
    all: () => heard,
    exits: () => heard.filter(({ type }) => type === 'instance.crashed' || type === 'instance.failed'),
    starts: () => heard.filter(({ type }) => type === 'instance.starting'),
    close: () => over.abort(),
  };
}

/** True when an event's instance is meant by a service, instance or component. */
export function concerns(subject: string, target: string): boolean {
  return subject === target || subject.replace(/-\d+$/, '') === target;
}
