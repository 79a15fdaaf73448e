import { expect } from 'vitest';
import type { AuditReport } from '../../../cli/src/audit/audit.ts';
import { exitCodes } from '../../../cli/src/exit-codes.ts';

/**
 * Demands of the output of `shopctl audit --json` that the ledger balances after kills. I2 and I3 want a client's
 * history; I11 compares with metrics, and what a killed process had counted in its last second may have been lost with it.
 */
export function expectBalancedAfterKills({ code, stdout }: { code: number; stdout: string }): void {
  const { invariants } = JSON.parse(stdout) as AuditReport;
  const open = invariants.filter(({ verdict }) => verdict !== 'pass').map(({ id, verdict }) => `${id} ${verdict}`);
  expect(['I2 skipped', 'I3 skipped', 'I11 unknown']).toEqual(expect.arrayContaining(open));
  expect(code).toBe(open.includes('I11 unknown') ? exitCodes.unknown : exitCodes.ok);
}
