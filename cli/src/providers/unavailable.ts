import { exitCodes } from '../exit-codes.ts';
import type { ComponentName } from '../topology/components.ts';
import type { Availability } from './component.ts';
import type { ToolName } from './tool.ts';

/** No way to have a component serves here. Lists each way, why not, and what to do. */
export class ComponentUnavailableError extends Error {
  override readonly name = 'ComponentUnavailableError';
  readonly code = 'component_unavailable';
  readonly exitCode = exitCodes.unavailable;
  readonly component: ComponentName | ToolName;
  readonly ways: readonly Availability[];
  readonly why: string;
  readonly next: string;

  constructor(component: ComponentName | ToolName, ways: readonly Availability[]) {
    super(`${component}: none of ${ways.length} ways to run it serves here`);
    this.component = component;
    this.ways = ways;
    this.why = ways.map(({ kind, detail }) => `  ${kind}: ${detail}`).join('\n');
    this.next = ways.some((way) => way.installable)
      ? `run "shopctl setup --with ${component}"`
      : 'install one of the above, then run "shopctl doctor" to see what is found';
  }
}
