import type { TObject } from 'typebox';
import type { Output } from '../output/output.ts';
import { formatDuration } from '../shared/duration.ts';
import { findFault } from './catalog.ts';
import type { Lease } from './lease.ts';
import { writeParameters } from './parameters.ts';

/** `orders-payments latency (latency 3s, jitter 200ms)` */
export function describeFault({ target, fault, parameters }: Pick<Lease, 'target' | 'fault' | 'parameters'>): string {
  const how = writeParameters(findFault(fault).parameters as TObject, parameters);
  return `${target} ${fault}${how === '' ? '' : ` (${how})`}`;
}

/** The measurement, in the colour of the verdict. */
export function describeWitness({ witness }: Lease, { style }: Output): string {
  if (!witness) return 'not measured yet';
  if (witness.verdict === 'observed') return `${style.green('in effect')}: ${witness.evidence}`;
  if (witness.verdict === 'pending') return `${style.yellow('waiting')}: ${witness.evidence}`;
  if (witness.verdict === 'unmeasurable') return `${style.yellow('not measurable')}: ${witness.evidence}`;
  return `${style.red('not in effect')}: ${witness.evidence}`;
}

/** How a lease ended, one line. */
export function describeEnd(lease: Lease, { style }: Output): string {
  const { id, end, problem } = lease;
  if (!end) return `${style.red('undo failed')} ${id} ${describeFault(lease)}: ${problem}`;
  return `${style.green('reverted')} ${id} ${describeFault(lease)} in ${formatDuration(end.tookMs)}: ${end.evidence}`;
}

/** Time until a lease expires, for people. */
export function remaining({ expiresAt }: Lease): string {
  return formatDuration(Math.max(0, Date.parse(expiresAt) - Date.now()));
}
