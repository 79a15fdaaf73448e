import type { CommonOptions } from '../../command-context.ts';
import type { ChangeOptions } from '../../operations/operations.ts';
import { askedFrom } from '../../platform/change-log.ts';
import type { ReasonOptions } from '../reason.ts';

/** Of the commands of an operator that change something. */
export interface ChangingOptions extends CommonOptions, ReasonOptions {
  readonly dryRun?: boolean;
}

/** The same as the supervisor takes it. */
export function changeOf({ dryRun = false, reason }: Pick<ChangingOptions, 'dryRun' | 'reason'>): ChangeOptions {
  return { dryRun, asked: askedFrom('command line', reason) };
}
