import { exitCodes } from '../exit-codes.ts';
import type { Output } from '../output/output.ts';
import type { OrderEvidence } from './order-evidence.ts';

/** Names the databases that gave no response and makes the command end with exit code 5: what it shows is not all. */
export function warnOfMissing(
  { unavailable }: OrderEvidence,
  output: Output,
  host: { exitCode?: unknown } = process,
): void {
  for (const [database, why] of Object.entries(unavailable)) {
    output.warn(`the ${database} database gave no response (${why}): its part is unknown; see "shopctl status"`);
    host.exitCode = exitCodes.unknown;
  }
}
