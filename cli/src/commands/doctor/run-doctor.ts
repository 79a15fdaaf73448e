import { join } from 'node:path';
import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import type { Check } from '../../doctor/checks.ts';
import { checkCpus, checkDisk, checkMemory, checkNode } from '../../doctor/machine.ts';
import { checkPort } from '../../doctor/ports.ts';
import type { CliError } from '../../errors.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { Style } from '../../output/style.ts';
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
import type { ComponentName } from '../../topology/components.ts';

const GATEWAY_PORT = 8080;
/** Without these nothing starts; the others have a stand-in. */
const required: readonly string[] = ['postgres', 'rabbitmq'];

/** `shopctl doctor`. */
export async function runDoctor(options: CommonOptions, deps: CommandDeps): Promise<void> {
  const project = deps.projectFrom(options);
  // A state that cannot be read is something to be told, not the end of the examination.
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
  const checks: Check[] = [
    checkNode(process.versions.node),
    checkCpus(),
    memory,
    disk,
    ...Object.entries(providers).map(([name, ways]) => checkComponent(name as ComponentName | ToolName, ways)),
    port,
    leftovers,
  ];
  const failed = checks.filter(({ status }) => status === 'fail').length;
  const warnings = checks.filter(({ status }) => status === 'warning').length;
  const widest = Math.max(...checks.map(({ name }) => name.length));
  deps.output.result({ checks, providers, failed, warnings }, () =>
    [
      ...checks.map((check) => formatCheck(check, widest, deps.output.style)),
      '',
      describeWays(providers),
      '',
      `${failed} failed, ${warnings} warnings`,
    ].join('\n'),
  );
  if (failed > 0) process.exitCode = exitCodes.failed;
}

function checkComponent(name: ComponentName | ToolName, ways: readonly Availability[]): Check {
  const serving = ways.find(({ available }) => available);
  const base = { category: 'components', name } as const;
  if (serving) return { ...base, status: 'pass', message: `${serving.kind}: ${serving.detail}` };
  const installable = ways.find((way) => way.installable);
  return {
    ...base,
    status: required.includes(name) && !installable ? 'fail' : 'warning',
    message: installable ? `not installed yet (${installable.kind}: ${installable.detail})` : 'cannot be had here',
    fix: installable
      ? `run "shopctl setup --with ${name}"`
      : `one of: ${ways.map(({ kind, detail }) => `${kind}: ${detail}`).join('; ')}`,
  };
}

function stateProblem({ what, why, next }: CliError): Check {
  const message = why === undefined ? what : `${what}: ${why}`;
  return { category: 'state', name: 'leftovers', status: 'fail', message, ...(next !== undefined && { fix: next }) };
}

async function checkLeftovers(project: Project, state: PlatformState | undefined, isRunning: boolean): Promise<Check> {
  const base = { category: 'state', name: 'leftovers' } as const;
  if (!state || isRunning) return { ...base, status: 'pass', message: isRunning ? 'the platform is running' : 'none' };
  const left = await findLeftovers(childListFile(project, state.mark), state.mark);
  if (left.length === 0)
    return { ...base, status: 'pass', message: `none (logs are in ${join(project.stateDir, 'logs')})` };
  return {
    ...base,
    status: 'warning',
    message: `${left.length} processes of a killed run: ${left.map(({ pid }) => pid).join(', ')}`,
    fix: 'run "shopctl down"',
  };
}

function formatCheck({ status, name, message, fix }: Check, width: number, style: Style): string {
  const word = { pass: style.green('ok  '), warning: style.yellow('warn'), fail: style.red('fail') }[status];
  return `${word} ${name.padEnd(width)} ${message}${fix ? `\n     ${' '.repeat(width)} ${style.dim(fix)}` : ''}`;
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
