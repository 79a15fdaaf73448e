import { join } from 'node:path';
import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import type { DoctorCheck } from '../../doctor/checks.ts';
import { checkCpus, checkDisk, checkMemory, checkNode } from '../../doctor/machine.ts';
import { checkPort } from '../../doctor/ports.ts';
import type { CliError } from '../../errors.ts';
import { isWarning, renderCheck } from '../../output/check.ts';
import { inspectionContext } from '../../platform/component-context.ts';
import { findLeftovers } from '../../platform/leftovers.ts';
import type { Project } from '../../platform/project.ts';
import { childListFile } from '../../platform/run-supervisor.ts';
import { type PlatformState, readState } from '../../platform/state.ts';
import { isAlive } from '../../process/process-identity.ts';
import type { Availability } from '../../providers/component.ts';
import { describeProviders } from '../../providers/resolve.ts';
import { describeTools } from '../../providers/resolve-tool.ts';
import type { ToolName } from '../../providers/tool.ts';
import { exitCodeOf, worst } from '../../shared/verdict.ts';
import type { ComponentName } from '../../topology/components.ts';

const GATEWAY_PORT = 8080;
/** Without these nothing starts; the others have a stand-in. */
const required: readonly string[] = ['postgres', 'rabbitmq'];

/** `shopctl doctor`. */
export async function runDoctor(options: CommonOptions, deps: CommandDeps): Promise<void> {
  const project = deps.projectFrom(options);
  // A state that cannot be read is reported and does not end the examination.
  const [state, unreadable] = await readState(project.stateFile).then(
    (found) => [found, undefined] as const,
    (error: CliError) => [undefined, error] as const,
  );
  const isRunning = state !== undefined && (await isAlive(state.supervisor));
  const holdsPort = isRunning && state.instances.some(({ ports }) => ports.main === GATEWAY_PORT);
  const context = inspectionContext(project, deps.env);
  const [memory, disk, port, leftovers, components, tools] = await Promise.all([
    checkMemory(),
    checkDisk(project.cacheDir),
    checkPort(GATEWAY_PORT, holdsPort),
    unreadable === undefined ? checkLeftovers(project, state, isRunning) : stateProblem(unreadable),
    describeProviders(context),
    describeTools(context),
  ]);
  const providers = { ...components, ...tools };
  const checks: DoctorCheck[] = [
    checkNode(process.versions.node),
    checkCpus(),
    memory,
    disk,
    ...Object.entries(providers).map(([name, ways]) => checkComponent(name as ComponentName | ToolName, ways)),
    port,
    leftovers,
  ];
  const failed = checks.filter(({ verdict }) => verdict === 'fail').length;
  const warnings = checks.filter(isWarning).length;
  deps.output.result({ checks, providers, failed, warnings }, () =>
    [
      ...checks.map((check) => renderCheck(check, deps.output.style)),
      '',
      describeWays(providers),
      '',
      `${failed} failed, ${warnings} warnings`,
    ].join('\n'),
  );
  process.exitCode = exitCodeOf(worst(checks.map(({ verdict }) => verdict)));
}

function checkComponent(name: ComponentName | ToolName, ways: readonly Availability[]): DoctorCheck {
  const serving = ways.find(({ available }) => available);
  const base = { group: 'components', name } as const;
  if (serving) return { ...base, verdict: 'pass', evidence: `${serving.kind}: ${serving.detail}` };
  const installable = ways.find((way) => way.installable);
  return {
    ...base,
    verdict: required.includes(name) && !installable ? 'fail' : 'pass',
    evidence: installable ? `not installed yet (${installable.kind}: ${installable.detail})` : 'not available here',
    fix: installable
      ? `run "shopctl setup --with ${name}"`
      : `one of: ${ways.map(({ kind, detail }) => `${kind}: ${detail}`).join('; ')}`,
  };
}

function stateProblem({ what, why, next }: CliError): DoctorCheck {
  const evidence = why === undefined ? what : `${what}: ${why}`;
  return { group: 'state', name: 'leftovers', verdict: 'fail', evidence, ...(next !== undefined && { fix: next }) };
}

async function checkLeftovers(
  project: Project,
  state: PlatformState | undefined,
  isRunning: boolean,
): Promise<DoctorCheck> {
  const base = { group: 'state', name: 'leftovers' } as const;
  if (!state || isRunning)
    return { ...base, verdict: 'pass', evidence: isRunning ? 'the platform is running' : 'none' };
  const left = await findLeftovers(childListFile(project, state.mark), state.mark);
  if (left.length === 0)
    return { ...base, verdict: 'pass', evidence: `none (logs are in ${join(project.stateDir, 'logs')})` };
  return {
    ...base,
    verdict: 'pass',
    evidence: `${left.length} processes of a killed run: ${left.map(({ pid }) => pid).join(', ')}`,
    fix: 'run "shopctl down"',
  };
}

function describeWays(providers: Readonly<Record<ComponentName | ToolName, readonly Availability[]>>): string {
  return Object.entries(providers)
    .map(([name, ways]) => {
      const lines = ways.map(({ kind, available, installable, detail }) => {
        const mark = available ? '+' : installable ? '~' : '-';
        return `  ${mark} ${kind.padEnd(10)} ${detail}`;
      });
      return `${name} (tried in this order; + serves, ~ can be set up, - not here)\n${lines.join('\n')}`;
    })
    .join('\n');
}
