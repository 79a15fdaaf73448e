import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { wrapText } from '../../output/wrap.ts';
import { withShopDatabases } from '../../shop/databases.ts';
import { diagnose } from '../../shop/diagnosis.ts';
import { parseIdPrefix } from '../../shop/id-prefix.ts';
import { warnOfMissing } from '../../shop/missing-evidence.ts';
import { readOrderEvidence } from '../../shop/order-evidence.ts';
import { formatFacts, orderFacts, sagaFacts } from '../../shop/order-page.ts';
import type { SagaState } from '../../shop/orders-table.ts';
import { listEndedSagas, listOpenSagas, type OrderRow } from '../../shop/orders-table.ts';
import { sagaSteps } from '../../shop/saga-steps.ts';
import { formatSagas } from '../../shop/sagas-table.ts';
import { formatSteps } from '../../shop/steps-table.ts';
import { stuckReasons } from '../../shop/stuck.ts';

export interface SagaListOptions extends CommonOptions {
  readonly stuck?: boolean;
  readonly state?: SagaState;
  readonly limit: number;
}

/** More open sagas than this are not looked at. */
const MAX_OPEN = 10_000;

/** `shopctl saga ls`: open sagas, the oldest first, then the ones that ended last. */
export async function runSagaList(options: SagaListOptions, deps: CommandDeps): Promise<void> {
  const connection = await deps.connect(deps.projectFrom(options));
  const { stuck = false, state, limit } = options;
  const { open, ended } = await withShopDatabases(connection, async (databases) => ({
    open: await listOpenSagas(databases, MAX_OPEN),
    ended: stuck ? [] : await listEndedSagas(databases, { state, limit }),
  }));
  const wanted = open
    .filter((saga) => state === undefined || saga.state === state)
    .filter((saga) => !stuck || stuckReasons(saga).length > 0);
  const shown = [...wanted, ...ended].slice(0, limit);
  deps.output.result(shown.map(jsonOf), () => {
    if (shown.length === 0) return stuck ? 'no saga is stuck' : 'no sagas; "shopctl order" starts one';
    const more = wanted.length > shown.length ? `\n${wanted.length - shown.length} more open; see --limit` : '';
    return `${formatSagas(shown, deps.output)}${more}`;
  });
}

function jsonOf(saga: OrderRow): object {
  return { ...saga, ageMs: saga.readAt.getTime() - saga.createdAt.getTime(), stuck: stuckReasons(saga) };
}

/** `shopctl saga show`: every step with what the databases know of it. */
export async function runSagaShow(id: string, options: CommonOptions, deps: CommandDeps): Promise<void> {
  const range = parseIdPrefix(id, 'order');
  const connection = await deps.connect(deps.projectFrom(options));
  const evidence = await withShopDatabases(connection, (databases) => readOrderEvidence(databases, range));
  const steps = sagaSteps(evidence);
  const { output } = deps;
  output.result({ conclusion: diagnose(evidence), steps, stuck: stuckReasons(evidence.order), ...evidence }, () =>
    [
      wrapText(output.style.bold(diagnose(evidence)), output.columns),
      formatFacts([...orderFacts(evidence.order), ...sagaFacts(evidence.order)], output),
      formatSteps(steps, evidence.order.createdAt, output),
      ...stuckReasons(evidence.order).map((reason) => `${output.style.yellow('stuck:')} ${reason}`),
    ].join('\n\n'),
  );
  warnOfMissing(evidence, output);
}
