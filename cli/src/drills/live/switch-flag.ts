import { offDefinition } from '@shop/kit/flag-file.ts';
import { isFlagName } from '@shop/kit/flag-names.ts';
import { CliError } from '../../errors.ts';
import type { Asked, ChangeLog } from '../../platform/change-log.ts';
import { flagFile, flagFolder } from '../../platform/flag-file.ts';
import { describeReach, reachOf, withPercent } from '../../platform/flag-state.ts';
import { readFlags, writeFlags } from '../../platform/flag-store.ts';
import type { Project } from '../../platform/project.ts';

/** Switches a flag on for a share of the orders, as `flags set` does. */
export async function switchFlagOn(
  project: Project,
  { name, percent = 100 }: { readonly name: string; readonly percent?: number },
  changes: ChangeLog,
  asked: Asked,
): Promise<void> {
  if (!isFlagName(name)) throw new CliError({ code: 'invalid_argument', what: `no flag has the name "${name}"` });
  const file = flagFile(flagFolder(project));
  const content = await readFlags(file);
  const before = content.flags[name] ?? offDefinition;
  const after = withPercent(before, percent);
  await writeFlags(file, { ...content, flags: { ...content.flags, [name]: after } });
  const [from, to] = [before, after].map((one) => describeReach(reachOf(one))) as [string, string];
  await changes.append({ kind: 'flag', target: name, from, to, ...asked });
}
