import { audit } from '../../audit/audit.ts';
import { renderAudit } from '../../audit/report.ts';
import type { Verdict } from '../../shared/verdict.ts';
import type { Check } from '../check.ts';
import { CheckFailed, EvidenceMissing } from '../check-errors.ts';
import type { VerifyContext } from '../context.ts';

/** How long what this run started may take to end, in ms. */
const SETTLE_MS = 15_000;

/** The whole ledger balances, this run's orders included. */
export const ledger: Check = {
  id: 'ledger',
  name: 'the ledger balances',
  async run(context) {
    const { audited, signal, style, confirmed, declined } = context;
    // Failures of the orders themselves are reported by their own checks; what they left behind must balance all the
    // same.
    await Promise.allSettled([confirmed.response(), declined.response()]);
    const report = await audit({ target: audited, settleMs: SETTLE_MS, signal });
    const named = (verdict: Verdict) =>
      report.invariants.filter((result) => result.verdict === verdict).map(({ id, title }) => `${id} (${title})`);
    const held = named('pass').length;
    if (report.verdict === 'pass') {
      await expectEnded(context);
      return `${held} invariants hold over ${report.orders} orders`;
    }
    const details = renderAudit(report, style);
    if (report.verdict === 'unknown') throw new EvidenceMissing(`not known: ${named('unknown').join(', ')}`, details);
    throw new CheckFailed({
      expected: 'every invariant to hold',
      observed: `violated: ${named('fail').join(', ')}`,
      details,
    });
  },
};

/** An order that is still in flight has time left by the ledger's rules; whether it will balance is not known. */
async function expectEnded({ databases, marker }: VerifyContext): Promise<void> {
  const rows = await databases.query<{ text: string }>(
    'orders',
    `SELECT id || ' is ' || state AS text FROM orders WHERE customer = $1 AND open`,
    [marker],
  );
  if (rows.length > 0) {
    throw new EvidenceMissing(`orders of this run have not ended: ${rows.map(({ text }) => text).join(', ')}`);
  }
}
