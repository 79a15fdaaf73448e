import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { admissionFile, admissionFolder, readShedPercent, writeShedPercent } from '../../platform/admission-file.ts';
import { askedFrom, createChangeLog } from '../../platform/change-log.ts';
import type { ReasonOptions } from '../reason.ts';

export interface ShedOptions extends CommonOptions, ReasonOptions {
  readonly dryRun?: boolean;
}

/** `shopctl shed`. Works also while the platform is down: gateways look at the file when they start. */
export async function runShed(
  asked: number | undefined,
  { dryRun = false, reason, ...options }: ShedOptions,
  deps: CommandDeps,
): Promise<void> {
  const project = deps.projectFrom(options);
  const file = admissionFile(admissionFolder(project));
  const before = await readShedPercent(file);
  if (asked === undefined) return deps.output.result({ shedPercent: before }, describe);
  const changed = asked !== before;
  if (changed && !dryRun) {
    await writeShedPercent(file, asked);
    const change = { kind: 'shed', target: 'gateway', from: `${before} %`, to: `${asked} %` } as const;
    await createChangeLog(project, deps.output.warn).append({ ...change, ...askedFrom('command line', reason) });
  }
  deps.output.result({ shedPercent: asked, before, changed, dryRun }, () => {
    if (!changed) return `${describe({ shedPercent: asked })} already`;
    if (dryRun) return `would change from ${before} % to ${asked} %`;
    return `${describe({ shedPercent: asked })}; the gateway follows within a second`;
  });
}

function describe({ shedPercent }: { shedPercent: number }): string {
  if (shedPercent === 0) return 'no order is shed';
  return `${shedPercent} % of the new orders are shed: 503 order_shed`;
}
