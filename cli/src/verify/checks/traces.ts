import { describeEvents, orderContract, outboxTypesIn } from '../../shop/published-events.ts';
import { createAccountReader } from '../../trace/accounting.ts';
import { assertTrace } from '../../trace/assert.ts';
import { loadContract } from '../../trace/contract.ts';
import { diffLines, renderDiff } from '../../trace/diff.ts';
import type { Check } from '../check.ts';
import { CheckFailed, EvidenceMissing } from '../check-errors.ts';
import { traceOf, type VerifyContext } from '../context.ts';

/** Spans arrive a batch delay (150 ms) after they end; the relay needs its poll (0.5 s) and the broker. In ms. */
const LIMIT_MS = 10_000;
/** A late extra span still fails the check: the relay's poll and a batch delay. In ms. */
const SETTLE_MS = 1_000;

interface TraceCheck {
  readonly contract: 'confirmed' | 'declined' | 'replayed';
  readonly name: string;
  traceId(context: VerifyContext): Promise<string>;
}

function traceCheck({ contract: contractName, name, traceId: find }: TraceCheck): Check {
  return {
    id: `${contractName}-trace`,
    name,
    async run(context) {
      const contract = await loadContract(contractName, context.project.root);
      const traceId = await find(context);
      const { telemetry: backend, project, signal, style } = context;
      const outboxTypes = outboxTypesIn(context.databases);
      const asked = { contract, backend, traceId, project, outboxTypes, timeoutMs: LIMIT_MS, signal };
      const { expected, events } = await orderContract(asked);
      const result = await assertTrace({
        backend,
        traceId,
        expected,
        timeoutMs: LIMIT_MS,
        settleMs: SETTLE_MS,
        accounting: createAccountReader(backend),
        signal,
      });
      const { counts, spans, verdict, explanation, comparison } = result;
      const { services, sql, databases } = counts;
      const versions = events === undefined ? '' : describeEvents(events);
      const shape = `${counts.spans} spans in ${services.length} services, ${sql} SQL over ${databases.length} databases`;
      const wanted = [shape, ...(versions === '' ? [] : [versions])].join(', ');
      const compared = { spans: counts.spans, events: events?.types ?? [] };
      if (verdict === 'pass') {
        const evidence = `${wanted}, exactly as in contracts/traces/${contractName}.json (trace ${traceId})`;
        return { evidence, contract: compared };
      }
      const details = renderDiff(diffLines(expected, comparison), style);
      if (verdict === 'unknown') throw new EvidenceMissing(`trace ${traceId}: ${explanation}`, details);
      throw new CheckFailed({
        expected: wanted,
        observed: `${spans} spans, ${explanation} (trace ${traceId})`,
        details,
        contract: compared,
      });
    },
  };
}

export const confirmedTrace = traceCheck({
  contract: 'confirmed',
  name: 'the trace of a confirmed order has its shape',
  traceId: ({ confirmed }) => traceOf(confirmed, '201 Confirmed', 'confirmed'),
});

export const declinedTrace = traceCheck({
  contract: 'declined',
  name: 'the trace of a declined order has its shape',
  traceId: ({ declined }) => traceOf(declined, '200 Cancelled (payment declined)', 'declined'),
});

export const replayedTrace = traceCheck({
  contract: 'replayed',
  name: 'the trace of a repeated request has its shape',
  traceId: ({ replayed }) => traceOf(replayed, '201 Confirmed', 'replayed'),
});
