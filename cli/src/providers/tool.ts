import type { Availability, OnProgress, ProviderKind } from './component.ts';

/** A program, or a library, that commands use for a while; the platform never has it running, so `up` never needs it. */
export type ToolName = 'k6' | 'libfaketime';

export const toolNames: readonly ToolName[] = ['k6', 'libfaketime'];

/** The ways there are for each, in the order in which they are tried. */
export const toolWays: Readonly<Record<ToolName, readonly ProviderKind[]>> = {
  k6: ['installed', 'cache', 'docker', 'release', 'go'],
  libfaketime: ['installed', 'packages'],
};

/** One way to have a tool. `check` takes well under a second and changes nothing. */
export interface ToolWay {
  readonly kind: ProviderKind;
  check(): Promise<Availability>;
  /** Path of the program or library; call only when `check` said available. */
  file(): Promise<string>;
  /** Makes an installable way available; builds into the cache directory. Aborting leaves nothing. */
  install?(onProgress: OnProgress, signal?: AbortSignal): Promise<void>;
}
