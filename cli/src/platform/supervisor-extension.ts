import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EventLog } from './events.ts';
import type { Project } from './project.ts';
import type { ActiveFault, PlatformState } from './state.ts';

/** Something more that a supervisor serves beside the platform itself. */
export interface SupervisorExtension {
  /** Answers a request to the control API; false when the route is none of its own. */
  handle(route: string, request: IncomingMessage, response: ServerResponse): Promise<boolean>;
  /** What it does to the platform now; the supervisor does not end for idleness meanwhile. */
  activeFaults(): readonly ActiveFault[];
  /** Takes everything back before the platform ends. */
  end(): Promise<void>;
}

/** What an extension may use. */
export interface ExtensionContext {
  readonly project: Project;
  readonly events: EventLog;
  state(): PlatformState;
  /** Resolves when done and ready. */
  act(service: string, action: 'start' | 'stop' | 'restart'): Promise<void>;
  /** Call when `activeFaults` has changed. */
  onChange(): void;
}
