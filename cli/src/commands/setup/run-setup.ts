import { createInterface } from 'node:readline/promises';
import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { CliError } from '../../errors.ts';
import { exitCodes } from '../../exit-codes.ts';
import { formatTable } from '../../output/table.ts';
import { bundles } from '../../platform/bundles.ts';
import { inspectionContext } from '../../platform/component-context.ts';
import type { Availability, ComponentContext, ProviderKind } from '../../providers/component.ts';
import { describeProviders, installComponent } from '../../providers/resolve.ts';
import { describeTools, installTool } from '../../providers/resolve-tool.ts';
import { type ToolName, toolNames } from '../../providers/tool.ts';
import { formatDuration } from '../../shared/duration.ts';
import { type ComponentName, componentNames } from '../../topology/components.ts';

export interface SetupOptions extends CommonOptions {
  readonly yes?: boolean;
  readonly with?: readonly string[];
  /** Component or program to its only source. */
  readonly provider?: Readonly<Record<string, string>>;
  readonly dryRun?: boolean;
}

/** A component of the platform, or a program that commands use. */
type Wanted = ComponentName | ToolName;

/** What `up` uses when nothing else is said; the built-in trace store stands in for Jaeger, and wires for Toxiproxy. */
const wantedByDefault: readonly Wanted[] = ['postgres', 'rabbitmq', 'toxiproxy'];
const required: readonly Wanted[] = ['postgres', 'rabbitmq'];

/** What is installed from one source only. */
type Forced = Readonly<Partial<Record<Wanted, ProviderKind>>>;

interface Step {
  readonly component: Wanted;
  /** The way that serves now, or that would be installed. */
  readonly way: Availability | undefined;
}

/** `shopctl setup`. */
export async function runSetup(options: SetupOptions, deps: CommandDeps): Promise<void> {
  const { output } = deps;
  const project = deps.projectFrom(options);
  const context = inspectionContext(project, deps.env);
  const forced = (options.provider ?? {}) as Forced;
  const named = [...(options.with ?? []), ...Object.keys(forced)].map(parseComponent);
  const wanted = [...new Set([...wantedByDefault, ...named])];
  const steps = await look(context, wanted, forced);
  const missing = steps.filter(({ way }) => !way?.available);
  for (const { component, way } of missing) {
    output.note(
      way
        ? `${component}: will be installed (${way.kind}) into ${way.kind === 'npm' ? project.root : project.cacheDir}: ${way.detail}`
        : `${component}: no way to install it here`,
    );
  }
  if (options.dryRun) return output.result({ components: steps, cacheDir: project.cacheDir }, () => describe(steps));
  if (missing.some(({ way }) => way) && !options.yes) await confirm(deps);
  const problems = await installAll(
    missing.map(({ component }) => component),
    forced,
    context,
    deps,
  );
  await bundles(project).buildIfStale((line) => output.note(line));
  const now = await look(context, wanted);
  output.result({ components: now, cacheDir: project.cacheDir, notInstalled: problems }, () => describe(now));
  // Each was warned about with its reason. The platform goes on without them; a command that named one cannot.
  if (problems.some((component) => named.includes(component))) process.exitCode = exitCodes.unavailable;
}

/** Resolves with those that could not be installed and are not required. Ctrl-C ends it once nothing half-done is left. */
async function installAll(
  components: readonly Wanted[],
  forced: Forced,
  context: ComponentContext,
  deps: CommandDeps,
): Promise<readonly Wanted[]> {
  const over = Promise.withResolvers<void>();
  if (components.length > 0) deps.onInterrupt(() => over.promise);
  try {
    const failed: Wanted[] = [];
    for (const component of components) {
      const problem = await install(component, forced[component], context, deps);
      if (problem === undefined) continue;
      if (required.includes(component) || component in forced || deps.signal.aborted) throw problem;
      failed.push(component);
      deps.output.warn(
        `${component} is not installed, and the platform goes on without it: ${problem.message}\n${problem.why ?? ''}`,
      );
    }
    return failed;
  } finally {
    over.resolve();
  }
}

function isTool(name: Wanted): name is ToolName {
  return (toolNames as readonly string[]).includes(name);
}

function parseComponent(name: string): Wanted {
  const known: readonly string[] = [...componentNames, ...toolNames];
  if (known.includes(name)) return name as Wanted;
  throw new CliError({
    code: 'unknown_service',
    what: `there is no component "${name}"`,
    next: `components are ${known.join(', ')}`,
  });
}

async function look(
  context: ComponentContext,
  wanted: readonly Wanted[],
  forced: Forced = {},
): Promise<readonly Step[]> {
  const all = { ...(await describeProviders(context)), ...(await describeTools(context)) };
  return wanted.map((component) => {
    const ways = all[component].filter(({ kind }) => kind === (forced[component] ?? kind));
    return { component, way: ways.find((way) => way.available) ?? ways.find((way) => way.installable) };
  });
}

async function install(
  component: Wanted,
  forced: ProviderKind | undefined,
  context: ComponentContext,
  { output, signal }: CommandDeps,
): Promise<(Error & { why?: string }) | undefined> {
  const began = performance.now();
  const progress = output.progress(`installing ${component}`);
  try {
    const onMessage = (message: string) => progress.update(`installing ${component}: ${message}`);
    await (isTool(component)
      ? installTool(component, context, onMessage, { forced, signal })
      : installComponent(component, context, onMessage, { forced, signal }));
    progress.succeed(`${component} installed in ${formatDuration(performance.now() - began)}`);
    return undefined;
  } catch (error) {
    // Whether that matters is for the caller to say: the platform goes on without most.
    progress.stop();
    return error as Error;
  }
}

async function confirm({ env, signal }: CommandDeps): Promise<void> {
  if (!process.stdin.isTTY || env.CI) {
    throw new CliError({
      code: 'not_confirmed',
      what: 'nothing was installed',
      why: 'installing needs a yes, and there is no terminal to ask at',
      next: 'run "shopctl setup --yes"',
    });
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const response = await terminal.question('Go on? [Y/n] ', { signal }).finally(() => terminal.close());
  if (/^(y(es)?)?$/i.test(response.trim())) return;
  throw new CliError({ code: 'not_confirmed', what: 'installation cancelled', why: 'it was not confirmed' });
}

function describe(steps: readonly Step[]): string {
  return formatTable(
    ['COMPONENT', 'STATE', 'FROM', ''],
    steps.map(({ component, way }) => [
      component,
      way?.available ? 'ready' : 'missing',
      way?.kind ?? '-',
      way?.detail ?? '',
    ]),
  );
}
