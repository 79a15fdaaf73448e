import { lookAtRecent } from '../../audit/recent.ts';
import { operatorDatabaseUrls } from '../../platform/connection.ts';
import type { Project } from '../../platform/project.ts';
import type { PlatformState } from '../../platform/state.ts';
import { processUsage } from '../../process/process-stats.ts';
import { loadOrCreateSecrets } from '../../providers/secrets.ts';
import { withShopDatabases } from '../../shop/databases.ts';
import { orderContract, outboxTypesIn } from '../../shop/published-events.ts';
import { createAccountReader } from '../../trace/accounting.ts';
import { assertTrace } from '../../trace/assert.ts';
import { createBackend } from '../../trace/backend.ts';
import { contractForRoot, loadContract } from '../../trace/contract.ts';
import type { CanaryPlan } from '../analysis/plan.ts';
import { createObserver } from './observer.ts';
import type { CanaryObserver } from './seen.ts';
import { createTraceGuard, type SampledOrder } from './trace-samples.ts';

/** A trace that is five seconds old has its spans, but for those of a relay that is behind. In ms. */
const TRACE_LIMIT_MS = 10_000;
const SETTLE_MS = 500;

/** The observer of a canary of the running platform. */
export function openObserver(
  plan: CanaryPlan,
  { project, state }: { readonly project: Project; readonly state: () => PlatformState },
): CanaryObserver {
  const backend = () => createBackend(state().telemetryUrl);

  async function databaseUrls() {
    return operatorDatabaseUrls(state(), await loadOrCreateSecrets(project.secretsFile));
  }

  async function outboxTypes(orderId: string): Promise<readonly string[]> {
    return withShopDatabases({ databaseUrls: await databaseUrls() }, (databases) => outboxTypesIn(databases)(orderId));
  }

  async function check({ traceId, distinctProducts, root }: SampledOrder, signal: AbortSignal) {
    const contract = contractForRoot(await loadContract('confirmed', project.root), root);
    const parameters = { distinctProducts };
    const timeoutMs = TRACE_LIMIT_MS;
    const asked = { contract, parameters, backend: backend(), traceId, project, outboxTypes, timeoutMs, signal };
    const { expected } = await orderContract(asked);
    return assertTrace({
      backend: backend(),
      traceId,
      expected,
      accounting: createAccountReader(backend()),
      timeoutMs,
      settleMs: SETTLE_MS,
      underLoad: true,
      signal,
    });
  }

  return createObserver(plan, {
    instances: () => state().instances,
    metrics: (names) => backend().metrics(names),
    usage: processUsage,
    async audit(sinceMs) {
      const urls = { databaseUrls: await databaseUrls() };
      return withShopDatabases(urls, (databases) => lookAtRecent({ ...urls, databases }, sinceMs));
    },
    traces: (service) =>
      createTraceGuard({
        service,
        newest: () => backend().traceIds(''),
        spans: async (traceId) => (await backend().trace(traceId)).spans,
        check,
      }),
    now: Date.now,
  });
}
