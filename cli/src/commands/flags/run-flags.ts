import { type FlagDefinition, type FlagFile, offDefinition } from '@shop/kit/flag-file.ts';
import { type FlagName, flagNames, flags, isFlagName } from '@shop/kit/flag-names.ts';
import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { CliError } from '../../errors.ts';
import { formatTable } from '../../output/table.ts';
import { askedFrom, createChangeLog } from '../../platform/change-log.ts';
import { flagFile, flagFolder } from '../../platform/flag-file.ts';
import {
  describeReach,
  type FlagMetadata,
  killed,
  type Reach,
  reachOf,
  withMetadata,
  withPercent,
  withValue,
} from '../../platform/flag-state.ts';
import { readFlags, writeFlags } from '../../platform/flag-store.ts';
import type { ReasonOptions } from '../reason.ts';
import { didYouMean, unknownFlag } from './unknown-flag.ts';

/** One flag as `flags ls --json` has it. */
interface FlagState {
  readonly name: FlagName;
  /** For all orders. */
  readonly on: boolean;
  /** The share of the orders; null where rules decide that were written by hand. */
  readonly percent: number | null;
  readonly state: FlagDefinition['state'];
  readonly defaultVariant: string | null;
  readonly owner: string | null;
  readonly expires: string | null;
  readonly expired: boolean;
  readonly service: string;
  readonly title: string;
}

export interface FlagSetOptions extends CommonOptions, ReasonOptions, FlagMetadata {
  readonly percent?: number;
}

/** `shopctl flags ls`. */
export async function runFlagsList(options: CommonOptions, deps: CommandDeps, now = new Date()): Promise<void> {
  const file = flagFile(flagFolder(deps.projectFrom(options)));
  const content = await readFlags(file);
  const states = flagNames.map((name) => stateOf(name, definitionOf(content, name), now));
  for (const { name, expires, expired } of states) {
    if (expired)
      deps.output.warn(`${name} expired on ${expires}: remove it, or see "shopctl flags set ${name} --expires DATE"`);
  }
  for (const name of Object.keys(content.flags).filter((one) => !isFlagName(one))) {
    deps.output.warn(`${file}: no flag has the name "${name}"${didYouMean(name)}`);
  }
  deps.output.result({ flags: states }, () =>
    formatTable(
      ['flag', 'is', 'default', 'owner', 'expires', 'asked by', 'while it is on, the service'],
      states.map((flag) => [
        flag.name,
        describeReach(reachOf(definitionOf(content, flag.name))),
        flag.defaultVariant ?? '-',
        flag.owner ?? '-',
        flag.expires ?? '-',
        flag.service,
        flag.title,
      ]),
    ),
  );
}

/** `shopctl flags on|off NAME`. Works also while the platform is down: services look at the file when they start. */
export function runFlagsSwitch(
  name: string,
  isOn: boolean,
  options: CommonOptions & ReasonOptions,
  deps: CommandDeps,
): Promise<void> {
  return change(name, options, deps, (flag, file) => withValue(withoutRules(name, flag, file), isOn));
}

/** `shopctl flags set NAME`. */
export async function runFlagsSet(name: string, options: FlagSetOptions, deps: CommandDeps): Promise<void> {
  const { percent, owner, expires, ...others } = options;
  if (percent === undefined && owner === undefined && expires === undefined) {
    throw new CliError({
      code: 'invalid_usage',
      what: 'nothing to set',
      next: 'use --percent, --owner or --expires; see "shopctl flags set --help"',
    });
  }
  const metadata = { ...(owner !== undefined && { owner }), ...(expires !== undefined && { expires }) };
  await change(name, others, deps, (flag, file) => {
    const shared = percent === undefined ? flag : withPercent(withoutRules(name, flag, file), percent);
    return withMetadata(shared, metadata);
  });
}

/** `shopctl flags kill NAME`: off without a look at its rules, which stay in the file. */
export function runFlagsKill(name: string, options: CommonOptions & ReasonOptions, deps: CommandDeps): Promise<void> {
  return change(name, options, deps, killed);
}

async function change(
  name: string,
  options: CommonOptions & ReasonOptions,
  deps: CommandDeps,
  edit: (flag: FlagDefinition, file: string) => FlagDefinition,
): Promise<void> {
  if (!isFlagName(name)) throw unknownFlag(name);
  const project = deps.projectFrom(options);
  const file = flagFile(flagFolder(project));
  const content = await readFlags(file);
  const before = definitionOf(content, name);
  const after = edit(before, file);
  const differing = metadataKeys.filter((key) => before.metadata?.[key] !== after.metadata?.[key]);
  const [from, to] = [describe(before, differing), describe(after, differing)];
  const changed = from !== to;
  if (changed) {
    await writeFlags(file, { ...content, flags: { ...content.flags, [name]: after } });
    const recorded = { kind: 'flag', target: name, from, to, ...askedFrom('command line', options.reason) } as const;
    await createChangeLog(project, deps.output.warn).append(recorded);
  }
  deps.output.result({ ...stateOf(name, after), changed }, () => {
    if (!changed) return `${name} was ${sentenceOf(reachOf(after))} already`;
    return `${name} is ${sentenceOf(reachOf(after))}; ${flags[name].service} follows within a second`;
  });
}

const definitionOf = ({ flags: all }: FlagFile, name: FlagName): FlagDefinition => all[name] ?? offDefinition;

const metadataKeys = ['owner', 'expires'] as const satisfies readonly (keyof FlagMetadata)[];

/** As a change has it: for which orders it is on, and of its metadata what differs. */
function describe({ metadata = {}, ...flag }: FlagDefinition, differing: readonly (keyof FlagMetadata)[]): string {
  return [describeReach(reachOf(flag)), ...differing.map((key) => `${key} ${metadata[key] ?? '-'}`)].join(', ');
}

function sentenceOf(reach: Reach): string {
  if (reach.kind === 'share') return `on for ${describeReach(reach)} of the orders`;
  if (reach.kind === 'killed') return 'off (killed)';
  return reach.kind === 'rules' ? 'on by its rules' : reach.kind;
}

function stateOf(name: FlagName, flag: FlagDefinition, now = new Date()): FlagState {
  const reach = reachOf(flag);
  const { owner = null, expires = null } = (flag.metadata ?? {}) as { owner?: string; expires?: string };
  return {
    name,
    on: reach.kind === 'on',
    percent: percentOf(reach),
    state: flag.state,
    defaultVariant: flag.defaultVariant ?? null,
    owner,
    expires,
    // Days of UTC, compared as texts.
    expired: expires !== null && now.toISOString().slice(0, 10) > expires,
    ...flags[name],
  };
}

function percentOf(reach: Reach): number | null {
  if (reach.kind === 'share') return reach.percent;
  if (reach.kind === 'rules') return null;
  return reach.kind === 'on' ? 100 : 0;
}

/** Rules written by hand are not discarded: nothing could bring them back. A flag that was killed may have some too. */
function withoutRules(name: string, flag: FlagDefinition, file: string): FlagDefinition {
  if (reachOf({ ...flag, state: 'ENABLED' }).kind !== 'rules') return flag;
  throw new CliError({
    code: 'flag_has_rules',
    what: `the flag "${name}" has targeting rules that this command does not write`,
    why: `${file}: flags.${name}.targeting`,
    next: `edit the file, or switch the flag off: "shopctl flags kill ${name} --reason TEXT"`,
  });
}
