import type { TObject } from 'typebox';
import { faults, targetsOf } from '../../chaos/catalog.ts';
import type { Scope } from '../../chaos/fault.ts';
import { describeParameter } from '../../chaos/parameters.ts';
import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { createControlClient } from '../../platform/control-client.ts';
import type { Project } from '../../platform/project.ts';
import type { PlatformState } from '../../platform/state.ts';
import { isSupervisorRunning } from '../../platform/supervisor-process.ts';

const scopes: readonly Scope[] = ['edge', 'process', 'instance', 'database', 'broker', 'telemetry', 'service'];

/** `shopctl chaos faults`: what can be injected where; on the running platform when there is one. */
export async function runChaosFaults(options: CommonOptions, deps: CommandDeps): Promise<void> {
  const state = await stateOf(deps.projectFrom(options));
  const listed = faults.map(({ name, kind, scope, title, parameters }) => ({
    name,
    kind,
    title,
    targets: targetsOf(scope, state),
    parameters: parameters as TObject,
  }));
  deps.output.result({ faults: listed }, () => describe(state, deps));
}

async function stateOf(project: Project): Promise<PlatformState | undefined> {
  return (await isSupervisorRunning(project)) ? createControlClient(project).state() : undefined;
}

function describe(state: PlatformState | undefined, { output: { style } }: CommandDeps): string {
  return scopes
    .map((scope) => {
      const targets = targetsOf(scope, state).join(', ') || 'nothing: the services are wired without proxies';
      const each = faults
        .filter((fault) => fault.scope === scope)
        .map(({ name, title, parameters }) => {
          const names = Object.keys(parameters.properties as object);
          const described = names.map((one) => `    ${describeParameter(parameters as TObject, one)}`);
          return [`  ${style.bold(name)}: ${title}`, ...described].join('\n');
        });
      return [`into ${targets}:`, ...each].join('\n');
    })
    .join('\n\n');
}
