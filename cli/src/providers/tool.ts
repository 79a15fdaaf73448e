import type { ComponentName } from '../topology/components.ts';
import type { Availability, OnProgress, ProviderKind } from './component.ts';

/** A program, a library or packages that commands use: `up` needs them only for some of its options. */
export type ToolName = 'k6' | 'libfaketime' | 'instrumentation' | 'promtool';

export const toolNames: readonly ToolName[] = ['k6', 'libfaketime', 'instrumentation', 'promtool'];

/** The ways there are for each, in the order in which they are tried. */
export const toolWays: Readonly<Record<ToolName, readonly ProviderKind[]>> = {
  k6: ['installed', 'cache', 'docker', 'release', 'go'],
  libfaketime: ['installed', 'packages'],
  instrumentation: ['npm'],
  promtool: ['installed', 'cache', 'release', 'packages', 'go'],
};

/** A tool that is installed together with a component, from the same source: one installs both. */
export const installedWith: Readonly<Partial<Record<ToolName, ComponentName>>> = { promtool: 'prometheus' };

/** One way to have a tool. `check` takes well under a second and changes nothing. */
export interface ToolSource {
  readonly kind: ProviderKind;
  check(): Promise<Availability>;
  /** Path of the program or library, or of the folder with the packages; call only when `check` said available. */
  file(): Promise<string>;
  /** Makes an installable way available; builds into the cache directory. Aborting leaves nothing. */
  install?(onProgress: OnProgress, signal?: AbortSignal): Promise<void>;
}
