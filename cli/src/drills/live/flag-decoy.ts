import { type FlagDefinition, offDefinition } from '@shop/kit/flag-file.ts';
import { isFlagName } from '@shop/kit/flag-names.ts';
import { CliError } from '../../errors.ts';
import type { Asked, ChangeLog } from '../../platform/change-log.ts';
import { flagFile, flagFolder } from '../../platform/flag-file.ts';
import { readFlags, writeFlags } from '../../platform/flag-store.ts';
import type { Project } from '../../platform/project.ts';

/** Switches a flag on for all orders, as `flags set` does. */
export async function switchFlagOn(project: Project, name: string, changes: ChangeLog, asked: Asked): Promise<void> {
  if (!isFlagName(name)) throw new CliError({ code: 'invalid_argument', what: `no flag has the name "${name}"` });
  const file = flagFile(flagFolder(project));
  const content = await readFlags(file);
  const after: FlagDefinition = { ...offDefinition, defaultVariant: 'on' };
  await writeFlags(file, { ...content, flags: { ...content.flags, [name]: after } });
  await changes.append({ kind: 'flag', target: name, from: 'off', to: 'on', ...asked });
}
