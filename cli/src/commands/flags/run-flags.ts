import { type FlagName, flags, isFlagName } from '@shop/kit/flag-names.ts';
import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { CliError } from '../../errors.ts';
import { formatTable } from '../../output/table.ts';
import { askedFrom, createChangeLog } from '../../platform/change-log.ts';
import { flagFile, flagFolder, readFlags, writeFlags } from '../../platform/flag-file.ts';
import type { ReasonOptions } from '../reason.ts';

/** One flag as `flags ls --json` has it. */
interface FlagState {
  readonly name: FlagName;
  readonly on: boolean;
  readonly service: string;
  readonly title: string;
}

/** `shopctl flags ls`. */
export async function runFlagsList(options: CommonOptions, deps: CommandDeps): Promise<void> {
  const on = await readFlags(flagFile(flagFolder(deps.projectFrom(options))));
  const states = (Object.keys(flags) as FlagName[]).map((name) => stateOf(name, on));
  deps.output.result({ flags: states }, () =>
    formatTable(
      ['flag', 'is', 'asked by', 'while it is on, the service'],
      states.map((flag) => [flag.name, flag.on ? 'on' : 'off', flag.service, flag.title]),
    ),
  );
}

/** `shopctl flags on|off NAME`. Works also while the platform is down: services look at the file when they start. */
export async function runFlagsSet(
  name: string,
  isOn: boolean,
  options: CommonOptions & ReasonOptions,
  deps: CommandDeps,
): Promise<void> {
  if (!isFlagName(name)) throw unknownFlag(name);
  const project = deps.projectFrom(options);
  const file = flagFile(flagFolder(project));
  const on = new Set(await readFlags(file));
  const changed = on.has(name) !== isOn;
  if (isOn) on.add(name);
  else on.delete(name);
  if (changed) {
    await writeFlags(file, on);
    const [from, to] = isOn ? ['off', 'on'] : ['on', 'off'];
    const change = { kind: 'flag', target: name, from, to, ...askedFrom('command line', options.reason) } as const;
    await createChangeLog(project, deps.output.warn).append(change);
  }
  deps.output.result({ ...stateOf(name, on), changed }, () =>
    changed
      ? `${name} is ${isOn ? 'on' : 'off'}; ${flags[name].service} follows within a second`
      : `${name} was ${isOn ? 'on' : 'off'} already`,
  );
}

function stateOf(name: FlagName, on: ReadonlySet<FlagName>): FlagState {
  return { name, on: on.has(name), ...flags[name] };
}

function unknownFlag(name: string): CliError {
  return new CliError({
    code: 'unknown_flag',
    what: `there is no flag "${name}"`,
    why: `the flags are ${Object.keys(flags).join(', ')}`,
    next: 'see "shopctl flags ls"',
  });
}
