import { readFile, rm } from 'node:fs/promises';
import { messageOf } from '../../errors.ts';
import { admissionFile, admissionFolder, readShedPercent, writeShedPercent } from '../../platform/admission-file.ts';
import type { Asked, ChangeLog } from '../../platform/change-log.ts';
import { flagFile, flagFolder } from '../../platform/flag-file.ts';
import type { OperationRequest } from '../../platform/operations.ts';
import { type Overrides, overridesFile, readOverrides } from '../../platform/overrides.ts';
import type { Project } from '../../platform/project.ts';
import { writeSharedFile } from '../../platform/shared-file.ts';
import type { PlatformState } from '../../platform/state.ts';
import type { ExtensionContext } from '../../platform/supervisor-extension.ts';
import { unless } from '../../shared/unless.ts';

/** What operators can have changed during a round. */
export interface OperatorState {
  readonly overrides: Overrides;
  readonly replicas: PlatformState['replicas'];
  readonly stopped: readonly string[];
  /** Undefined: there is no file. */
  readonly flags: string | undefined;
  readonly shedPercent: number;
}

type Context = Pick<ExtensionContext, 'project' | 'state' | 'operator'>;

export async function readOperatorState({
  project,
  state,
}: Pick<Context, 'project' | 'state'>): Promise<OperatorState> {
  const { replicas, instances } = state();
  return {
    overrides: await readOverrides(overridesFile(project)),
    replicas,
    stopped: instances.filter(({ status }) => status === 'stopped').map(({ name }) => name),
    flags: await readFlagText(project),
    shedPercent: await readShedPercent(admissionFile(admissionFolder(project))),
  };
}

/** Changes back what differs, with lines in the change log. Resolves with what could not be, for people. */
export async function restoreOperatorState(
  before: OperatorState,
  { context, changes, asked }: { readonly context: Context; readonly changes: ChangeLog; readonly asked: Asked },
): Promise<readonly string[]> {
  const { project, operator } = context;
  const left: string[] = [];
  const attempt = async (what: string, work: () => Promise<unknown>) => {
    await work().catch((error: unknown) => left.push(`${what}: ${messageOf(error)}`));
  };
  const after = await readOperatorState(context);
  for (const name of missingFrom(after.stopped, before.stopped)) {
    await attempt(`${name} is stopped`, () => operator.act(name, 'start', asked));
  }
  for (const operation of operationsBack(before, after)) {
    await attempt(JSON.stringify(operation), () => operator.operate(operation, { dryRun: false, asked }));
  }
  if (after.flags !== before.flags) {
    await attempt('flags', async () => {
      await writeFlagText(project, before.flags);
      await changes.append({ kind: 'flag', target: 'all flags', from: 'changed', to: 'as before', ...asked });
    });
  }
  if (after.shedPercent !== before.shedPercent) {
    await attempt('shed', async () => {
      await writeShedPercent(admissionFile(admissionFolder(project)), before.shedPercent);
      const [from, to] = [`${after.shedPercent} %`, `${before.shedPercent} %`];
      await changes.append({ kind: 'shed', target: 'gateway', from, to, ...asked });
    });
  }
  return left;
}

/** The operations that lead from one state to the other. Pure. */
export function operationsBack(
  before: Pick<OperatorState, 'overrides' | 'replicas'>,
  after: Pick<OperatorState, 'overrides' | 'replicas'>,
): readonly OperationRequest[] {
  const scaled = [...new Set([...Object.keys(before.replicas), ...Object.keys(after.replicas)])].filter(
    (service) => (before.replicas[service] ?? 1) !== (after.replicas[service] ?? 1),
  );
  const [was, is] = [before.overrides, after.overrides];
  const reroute = (via: 'primary' | 'standby') => (edge: string) => ({ kind: 'reroute', edge, via }) as const;
  const drain = (undo: boolean) => (instance: string) => ({ kind: 'drain', instance, undo }) as const;
  return [
    ...(scaled.length === 0
      ? []
      : [
          {
            kind: 'scale' as const,
            replicas: Object.fromEntries(scaled.map((service) => [service, before.replicas[service] ?? 1])),
          },
        ]),
    ...missingFrom(is.onStandby, was.onStandby).map(reroute('primary')),
    ...missingFrom(was.onStandby, is.onStandby).map(reroute('standby')),
    ...missingFrom(is.draining, was.draining).map(drain(true)),
    ...missingFrom(was.draining, is.draining).map(drain(false)),
  ];
}

function missingFrom(names: readonly string[], others: readonly string[]): readonly string[] {
  return names.filter((name) => !others.includes(name));
}

async function readFlagText(project: Project): Promise<string | undefined> {
  return readFile(flagFile(flagFolder(project)), 'utf8').catch(unless('ENOENT'));
}

async function writeFlagText(project: Project, text: string | undefined): Promise<void> {
  const file = flagFile(flagFolder(project));
  if (text === undefined) await rm(file, { force: true });
  else await writeSharedFile(file, text);
}
